// Texts of unknown origin: where they are broken, and how they look in JSON and in a message.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace phsic {

// Where well-formed UTF-8 ends: the offset of the first byte that is not part of it, or the size.
[[nodiscard]] std::size_t utf8_prefix(std::string_view text);

// As a JSON string, in quotation marks. What is not UTF-8 becomes U+FFFD.
[[nodiscard]] std::string to_json(std::string_view text);

// On one line, fit for a terminal: what would command it or turn the direction of writing, and what
// is not UTF-8, becomes "?".
[[nodiscard]] std::string printable(std::string_view text);
// The same, but tabs and the ends of lines stay: for what is lines already.
[[nodiscard]] std::string printable_lines(std::string_view text);
// For standard output: printable lines if that is a terminal, and otherwise as it is.
[[nodiscard]] std::string for_output(std::string_view text);
// The same in quotation marks, and not long.
[[nodiscard]] std::string quote(std::string_view text);
// Some of them, with commas.
[[nodiscard]] std::string quote(std::span<const std::string_view> texts);

}  // namespace phsic
