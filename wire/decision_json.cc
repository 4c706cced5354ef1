#include "wire/decision_json.h"

#include <fmt/format.h>

#include <iterator>

namespace phsic {

// Names of reasons have nothing in them that would have to be escaped.
void append_reason(ReasonCode reason, std::string& out) {
  if (reason == reasons::kNone) {
    out += "null";
  } else {
    fmt::format_to(std::back_inserter(out), "\"{}\"", name_of_reason(reason));
  }
}

void append_decision(const Decision& decision, std::string& out) {
  fmt::format_to(std::back_inserter(out),
                 "\"decision\":\"{}\",\"reason\":", name_of(decision.verdict));
  append_reason(decision.reason, out);
}

}  // namespace phsic
