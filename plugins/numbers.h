// Reading numbers from text, fast and without a locale.
#pragma once

#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>
#include <system_error>

namespace phsic::plugins {

// The whole of `text` as a finite float, or nothing. What is too small for a float
// but not for a double becomes 0.
[[nodiscard]] inline std::optional<float> read_number(std::string_view text) {
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  const char* end = text.data() + text.size();
  float value = 0;
  auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc::result_out_of_range) {
    // Too small or too large, which only the wider type tells.
    double wide = 0;
    const auto again = std::from_chars(text.data(), end, wide);
    if (again.ec != std::errc() || std::abs(wide) >= 1) return std::nullopt;
    value = 0;
    error = std::errc();
  }
  if (error != std::errc() || stop != end || !std::isfinite(value)) return std::nullopt;
  return value;
}

}  // namespace phsic::plugins
