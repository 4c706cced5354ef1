#include "wire/via.h"

#include <fmt/format.h>

#include <cstdint>
#include <random>

#include "wire/json_text.h"

namespace phsic {

std::string random_name() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}", static_cast<std::uint32_t>(random()),
                     static_cast<std::uint32_t>(random()));
}

std::string via_member(const std::vector<std::string>& via, const std::string& last) {
  std::string out = "\"via\":[";
  for (const auto& name : via) {
    append_json_text(out, name);
    out += ',';
  }
  append_json_text(out, last);
  out += ']';
  return out;
}

bool is_copy(std::string_view topic, std::string_view prefix) {
  constexpr std::string_view kFlags = "/flag";
  if (!topic.ends_with(kFlags)) return false;
  topic.remove_suffix(kFlags.size());
  return fmt::format("{}/score", topic).starts_with(prefix);
}

}  // namespace phsic
