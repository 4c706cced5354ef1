// The values of options, as users write them on the command line and in files.
//
// Each function throws an Error that says what was found and what was expected.
#pragma once

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <string_view>

namespace phsic {

[[noreturn]] void refuse_value(std::string_view found, std::string_view expected);

// A finite number.
[[nodiscard]] double number_value(std::string_view text, std::string_view expected);

template <class Integer>
[[nodiscard]] Integer whole_value(std::string_view text, Integer least, Integer most) {
  Integer value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < least || value > most) {
    refuse_value(text, fmt::format("a whole number from {} to {}", least, most));
  }
  return value;
}

// true or false
[[nodiscard]] bool flag_value(std::string_view text);

// Does it end with the unit of a time?
[[nodiscard]] bool has_time_unit(std::string_view text);
// 30s, 15m, 2h, 7d: in seconds.
[[nodiscard]] double seconds_value(std::string_view text, std::string_view expected);

// 65536, 64KiB, 4MiB, 1GiB: in bytes.
[[nodiscard]] std::uint64_t bytes_value(std::string_view text, std::uint64_t least,
                                        std::uint64_t most);

}  // namespace phsic
