// Texts of unknown origin: where they are broken, and how they look in a message.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace phsic {

// Where well-formed UTF-8 ends: the offset of the first byte that is not part of it, or the size.
[[nodiscard]] std::size_t utf8_prefix(std::string_view text);

// In quotation marks, on one line, not long, fit for a terminal.
[[nodiscard]] std::string quote(std::string_view text);
// Some of them, with commas.
[[nodiscard]] std::string quote(std::span<const std::string_view> texts);

}  // namespace phsic
