#include "plugins/quoted.h"

#include <fmt/format.h>

#include <iterator>

namespace phsic::plugins {

std::string quoted(std::string_view bytes) {
  constexpr std::size_t kLongest = 40;
  std::string text = "\"";
  for (const char c : bytes.substr(0, kLongest)) {
    if (c >= ' ' && c <= '~') {
      text += c;
    } else {
      fmt::format_to(std::back_inserter(text), "\\x{:02x}", static_cast<unsigned char>(c));
    }
  }
  text += bytes.size() > kLongest ? "...\"" : "\"";
  return text;
}

}  // namespace phsic::plugins
