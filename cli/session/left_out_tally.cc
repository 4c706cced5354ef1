#include "cli/session/left_out_tally.h"

#include <fmt/format.h>

#include "wire/printable.h"

namespace phsic {

void LeftOutTally::add(const std::vector<LeftOut>& left_out) {
  for (const auto& [row, view, message] : left_out) {
    auto& [count, why] = views_[view];
    if (count++ == 0) why = message;
  }
}

std::string LeftOutTally::describe() const {
  std::string lines;
  for (const auto& [view, pairs] : views_) {
    const bool is_one = pairs.count == 1;
    lines += fmt::format("phsic: {} {} scored without the view {}, {}because of {}\n", pairs.count,
                         is_one ? "pair was" : "pairs were", printable(view),
                         is_one ? "" : "the first ", printable(pairs.why));
  }
  return lines;
}

}  // namespace phsic
