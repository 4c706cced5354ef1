#include "cli/table/timestamp.h"

#include <charconv>
#include <chrono>
#include <cmath>
#include <cstddef>

namespace phsic {
namespace {

// Takes exactly `digits` digits off the front.
std::optional<int> take_digits(std::string_view& text, std::size_t digits) {
  if (text.size() < digits) return std::nullopt;
  int value = 0;
  const auto* end = text.data() + digits;
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end || text.front() == '-') return std::nullopt;
  text.remove_prefix(digits);
  return value;
}

bool take(std::string_view& text, std::string_view any_of) {
  if (text.empty() || any_of.find(text.front()) == std::string_view::npos) return false;
  text.remove_prefix(1);
  return true;
}

std::optional<double> take_date(std::string_view& text) {
  const auto year = take_digits(text, 4);
  if (!year || !take(text, "-")) return std::nullopt;
  const auto month = take_digits(text, 2);
  if (!month || !take(text, "-")) return std::nullopt;
  const auto day = take_digits(text, 2);
  if (!day) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(*year),
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day))};
  if (!date.ok()) return std::nullopt;
  return std::chrono::duration<double>(std::chrono::sys_days(date).time_since_epoch()).count();
}

std::optional<double> take_clock(std::string_view& text) {
  const auto hour = take_digits(text, 2);
  if (!hour || *hour > 23 || !take(text, ":")) return std::nullopt;
  const auto minute = take_digits(text, 2);
  if (!minute || *minute > 59) return std::nullopt;
  double seconds = 0;
  if (take(text, ":")) {
    const auto second = take_digits(text, 2);
    if (!second || *second > 60) return std::nullopt;
    seconds = *second;
    if (take(text, ".")) {
      double unit = 1;
      while (const auto digit = take_digits(text, 1)) seconds += (unit /= 10) * *digit;
    }
  }
  return *hour * 3600 + *minute * 60 + seconds;
}

// Seconds east of Greenwich. Nothing at all is UTC.
std::optional<double> take_offset(std::string_view& text) {
  if (text.empty() || take(text, "Zz")) return 0;
  const double sign = text.front() == '-' ? -1 : 1;
  if (!take(text, "+-")) return std::nullopt;
  const auto hours = take_digits(text, 2);
  if (!hours || *hours > 23) return std::nullopt;
  take(text, ":");
  const auto minutes = text.empty() ? std::optional(0) : take_digits(text, 2);
  if (!minutes || *minutes > 59) return std::nullopt;
  return sign * (*hours * 3600 + *minutes * 60);
}

}  // namespace

std::optional<double> parse_timestamp(std::string_view text) {
  double seconds = 0;
  const auto* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, seconds);
  if (error == std::errc() && stop == end) {
    return std::isfinite(seconds) ? std::optional(seconds) : std::nullopt;
  }
  const auto date = take_date(text);
  if (!date || !take(text, "T t")) return std::nullopt;
  const auto clock = take_clock(text);
  if (!clock) return std::nullopt;
  const auto offset = take_offset(text);
  if (!offset || !text.empty()) return std::nullopt;
  return *date + *clock - *offset;
}

}  // namespace phsic
