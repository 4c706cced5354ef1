#include "plugins/number_list.h"

#include <fmt/format.h>

#include <algorithm>

#include "plugins/numbers.h"
#include "plugins/plugin.h"
#include "plugins/quoted.h"

namespace phsic::plugins {
namespace {

constexpr std::string_view kBlanks = " \t\r\n\f\v";
constexpr std::string_view kMarks = ",;";
constexpr std::string_view kSeparators = " \t\r\n\f\v,;";

std::string_view without_blanks(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  return text.substr(0, text.find_last_not_of(kBlanks) + 1);
}

std::string_view without_brackets(std::string_view text) {
  text = without_blanks(text);
  const bool is_opened = !text.empty() && text.front() == '[';
  const bool is_closed = !text.empty() && text.back() == ']';
  if (is_opened != is_closed || (is_opened && text.size() == 1)) {
    throw BadText(fmt::format("found {}, expected both brackets or none",
                              is_opened ? "[ without ]" : "] without ["));
  }
  return is_opened ? without_blanks(text.substr(1, text.size() - 2)) : text;
}

// Takes one number, and the separator after it, from the front of `rest`.
float take_number(std::string_view& rest, std::size_t position) {
  const auto field = rest.substr(0, rest.find_first_of(kSeparators));
  const auto value = read_number(field);
  if (!value) {
    throw BadText(fmt::format("number {}: found {}, expected a finite number", position,
                              field.empty() ? "nothing" : quoted(field)));
  }
  rest = without_blanks(rest.substr(field.size()));
  if (!rest.empty() && kMarks.find(rest.front()) != std::string_view::npos) {
    rest = without_blanks(rest.substr(1));
    if (rest.empty()) {
      throw BadText(
          fmt::format("number {}: found nothing, expected a finite number", position + 1));
    }
  }
  return *value;
}

}  // namespace

void read_number_list(std::string_view text, std::size_t count, float* values) {
  auto rest = without_brackets(text);
  std::size_t found = 0;
  for (; !rest.empty(); ++found) {
    const float value = take_number(rest, found + 1);
    if (found < count) values[found] = value;
  }
  if (found != count) {
    throw BadText(fmt::format("found {} numbers, expected {}", found, count));
  }
}

}  // namespace phsic::plugins
