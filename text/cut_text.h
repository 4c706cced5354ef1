// A text without its end.
#pragma once

#include <cstddef>
#include <string_view>

namespace phsic::text {

// The first `longest` bytes of a text, or up to three fewer where a character of UTF-8 would be
// parted. REQUIRES: longest >= 4.
[[nodiscard]] inline std::string_view cut_text(std::string_view text, std::size_t longest) {
  if (text.size() <= longest) return text;
  std::size_t end = longest;
  const auto continues = [&](std::size_t i) {
    return (static_cast<unsigned char>(text[i]) & 0xC0U) == 0x80U;
  };
  while (end > longest - 4 && continues(end)) --end;
  return text.substr(0, end);
}

}  // namespace phsic::text
