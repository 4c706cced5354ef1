#include "text/text_units.h"

#include <unicode/uchar.h>

#include <cstdint>

#include "text/characters.h"

namespace phsic::text {
namespace {

// Characters of a word, on average. Finnish and German have half as many.
constexpr std::size_t kLongestWords = 15;

// Letters of scripts without spaces: those that Unicode lets lines break between, and those that
// take a dictionary to break.
bool is_unspaced_letter(std::int32_t point) {
  constexpr std::int32_t kFirst = 0xE00;  // Thai
  if (point < kFirst || (U_GET_GC_MASK(point) & U_GC_L_MASK) == 0) return false;
  const auto kind = u_getIntPropertyValue(point, UCHAR_LINE_BREAK);
  return kind == U_LB_IDEOGRAPHIC || kind == U_LB_CONDITIONAL_JAPANESE_STARTER ||
         kind == U_LB_COMPLEX_CONTEXT;
}

// Moves the end of a unit. REQUIRES: `more` follows it in its text.
void extend(TextUnit& unit, std::string_view more) {
  unit.text = {unit.text.data(), unit.text.size() + more.size()};
}

}  // namespace

TextUnits::TextUnits(std::string_view text) {
  std::size_t characters = 0;
  std::size_t unspaced = 0;
  bool is_inside = false;
  for (std::size_t at = 0; at < text.size();) {
    const auto begin = at;
    const auto point = next_character(text, at);
    const bool was_inside = is_inside;
    is_inside = !is_white_space(point);
    if (!is_inside) continue;
    const auto character = text.substr(begin, at - begin);
    if (was_inside) {
      extend(units_.back(), character);
    } else {
      units_.push_back({character, true});
    }
    if (is_mark(point)) continue;
    ++characters;
    unspaced += is_unspaced_letter(point) ? 1 : 0;
  }
  is_words_ = 2 * unspaced <= characters && characters <= kLongestWords * units_.size();
  if (!is_words_) cut_into_characters(text);
}

void TextUnits::cut_into_characters(std::string_view text) {
  units_.clear();
  bool is_spaced = false;
  for (std::size_t at = 0; at < text.size();) {
    const auto begin = at;
    const auto point = next_character(text, at);
    const auto character = text.substr(begin, at - begin);
    if (is_white_space(point)) {
      is_spaced = true;
    } else if (is_mark(point) && !is_spaced && !units_.empty()) {
      extend(units_.back(), character);
    } else {
      units_.push_back({character, is_spaced});
      is_spaced = false;
    }
  }
}

std::string_view TextUnits::part(std::size_t first, std::size_t end) const {
  if (first == end) return {};
  const auto* begin = units_[first].text.data();
  const auto last = units_[end - 1].text;
  return {begin, static_cast<std::size_t>(last.data() + last.size() - begin)};
}

std::string join(std::span<const TextUnit> units) {
  std::string joined;
  for (const auto& unit : units) {
    if (unit.is_spaced && !joined.empty()) joined += ' ';
    joined += unit.text;
  }
  return joined;
}

}  // namespace phsic::text
