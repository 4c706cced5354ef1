#include "engine/option_value.h"

#include <cmath>
#include <optional>
#include <utility>

#include "core/error.h"

namespace phsic {
namespace {

constexpr std::pair<std::string_view, std::uint64_t> kByteUnits[] = {
    {"GiB", 1U << 30U}, {"MiB", 1U << 20U}, {"KiB", 1U << 10U}};

// In the largest unit that leaves a whole number.
std::string in_units(std::uint64_t bytes) {
  for (const auto& [name, unit] : kByteUnits) {
    if (bytes >= unit && bytes % unit == 0) return fmt::format("{}{}", bytes / unit, name);
  }
  return fmt::format("{}", bytes);
}

std::optional<double> to_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_number =
      error == std::errc() && end == text.data() + text.size() && std::isfinite(value);
  return is_number ? std::optional(value) : std::nullopt;
}

// In seconds; 0: it has none.
double time_unit(std::string_view text) {
  switch (text.empty() ? '\0' : text.back()) {
    case 's': return 1;
    case 'm': return 60;
    case 'h': return 3600;
    case 'd': return 86400;
    default: return 0;
  }
}

}  // namespace

void refuse_value(std::string_view found, std::string_view expected) {
  throw Error(fmt::format("found \"{}\", expected {}", found, expected));
}

double number_value(std::string_view text, std::string_view expected) {
  const auto value = to_number(text);
  if (!value) refuse_value(text, expected);
  return *value;
}

bool flag_value(std::string_view text) {
  if (text != "true" && text != "false") refuse_value(text, "true or false");
  return text == "true";
}

bool has_time_unit(std::string_view text) { return time_unit(text) > 0; }

double seconds_value(std::string_view text, std::string_view expected) {
  const auto value =
      has_time_unit(text) ? to_number(text.substr(0, text.size() - 1)) : std::nullopt;
  if (!value) refuse_value(text, expected);
  return *value * time_unit(text);
}

std::uint64_t bytes_value(std::string_view text, std::uint64_t least, std::uint64_t most) {
  auto digits = text;
  std::uint64_t unit = 1;
  for (const auto& [name, bytes] : kByteUnits) {
    if (!text.ends_with(name)) continue;
    digits.remove_suffix(name.size());
    unit = bytes;
  }
  std::uint64_t count = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), count);
  const bool is_number = error == std::errc() && end == digits.data() + digits.size();
  if (!is_number || count > most / unit || count * unit < least) {
    refuse_value(text, fmt::format("a size from {} to {}, such as 65536 or 64KiB", in_units(least),
                                   in_units(most)));
  }
  return count * unit;
}

}  // namespace phsic
