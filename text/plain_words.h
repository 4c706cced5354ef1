// The words of plain text. For ASCII letters, digits and signs this gives what ICU's rules (UAX
// #29) give, in less time. A test compares the two.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace phsic::text {

namespace plain {

enum class Sort : std::uint8_t {
  kForeign,  // not for us: beyond ASCII, or _ and @, which versions of ICU treat differently
  kGap,
  kLetter,
  kDigit,
  kMidDigits,  // , ; between digits only
  kMid,        // . ' between two letters or two digits
};

constexpr std::array<Sort, 256> kSorts = [] {
  std::array<Sort, 256> sorts{};
  for (std::size_t c = 0; c < 128; ++c) sorts[c] = Sort::kGap;
  for (std::size_t c = 'a'; c <= 'z'; ++c) sorts[c] = sorts[c - 'a' + 'A'] = Sort::kLetter;
  for (std::size_t c = '0'; c <= '9'; ++c) sorts[c] = Sort::kDigit;
  sorts['_'] = sorts['@'] = Sort::kForeign;
  sorts[','] = sorts[';'] = Sort::kMidDigits;
  sorts['.'] = sorts['\''] = Sort::kMid;
  return sorts;
}();

[[nodiscard]] inline Sort sort_of(char c) { return kSorts[static_cast<unsigned char>(c)]; }

}  // namespace plain

[[nodiscard]] inline bool is_plain(std::string_view text) {
  return std::none_of(text.begin(), text.end(),
                      [](char c) { return plain::sort_of(c) == plain::Sort::kForeign; });
}

// Calls take_word for each word and take_sign for each sign between words, white space and control
// characters aside. REQUIRES: is_plain(text).
template <class TakeWord, class TakeSign>
void for_each_plain_word(std::string_view text, const TakeWord& take_word,
                         const TakeSign& take_sign) {
  using plain::Sort;
  const auto at = [&](std::size_t i) {
    return i < text.size() ? plain::sort_of(text[i]) : Sort::kGap;
  };
  const auto is_inside = [&](std::size_t i) {
    const auto here = at(i);
    if (here == Sort::kLetter || here == Sort::kDigit) return true;
    // A sign in the middle stays between two of a kind that it joins.
    const auto before = at(i - 1);
    if (before != at(i + 1)) return false;
    return (before == Sort::kLetter && here == Sort::kMid) ||
           (before == Sort::kDigit && (here == Sort::kMid || here == Sort::kMidDigits));
  };
  for (std::size_t i = 0; i < text.size();) {
    const auto begin = i++;
    if (at(begin) == Sort::kLetter || at(begin) == Sort::kDigit) {
      while (is_inside(i)) ++i;
      take_word(text.substr(begin, i - begin));
    } else if (text[begin] > ' ' && text[begin] != 0x7F) {
      take_sign(text.substr(begin, 1));
    }
  }
}

}  // namespace phsic::text
