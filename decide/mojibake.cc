#include "decide/mojibake.h"

#include <unicode/uchar.h>

#include <algorithm>
#include <array>

#include "decide/text_facts.h"

namespace phsic {
namespace {

constexpr int kNoByte = -1;

// Windows-1252's characters for the bytes 0x80 to 0x9F; 0 where it has none.
constexpr std::array<char16_t, 32> kWindows1252 = {
    0x20AC, 0,      0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160,
    0x2039, 0x0152, 0,      0x017D, 0,      0,      0x2018, 0x2019, 0x201C, 0x201D, 0x2022,
    0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0,      0x017E, 0x0178};

// The byte from 0x80 to 0xBF that the character was, or kNoByte.
int byte_of(std::int32_t point) {
  if (point >= 0x80 && point <= 0xBF) return static_cast<int>(point);
  if (point < 0x0152 || point > 0x2122) return kNoByte;
  const auto* const found = std::find(kWindows1252.begin(), kWindows1252.end(), point);
  return found == kWindows1252.end() ? kNoByte
                                     : static_cast<int>(found - kWindows1252.begin()) + 0x80;
}

// The byte of the next character, which `at` moves past.
int next_byte(std::string_view text, std::size_t& at) {
  return at < text.size() ? byte_of(next_character(text, at)) : kNoByte;
}

// Whether good text has the character of this byte right behind a letter.
bool closes_words(int byte) {
  switch (byte) {
    case 0x85:  // …
    case 0x8B:
    case 0x9B:  // ‹ ›
    case 0x91:
    case 0x92:
    case 0x93:
    case 0x94:  // ‘ ’ “ ”
    case 0x95:
    case 0x96:
    case 0x97:  // • – —
    case 0xA0:
    case 0xAD:  // soft hyphen
    case 0xAB:
    case 0xBB:  // no-break space « »
      return true;
    default: return false;
  }
}

// ... and those that stand behind names and figures as well: ™ © ® ° ² ³ ¹ · ¡ ¿ ª º ¼ ½ ¾.
bool follows_words(int byte) {
  constexpr std::string_view kOthers =
      "\x99\xA9\xAE\xB0\xB2\xB3\xB9\xB7\xA1\xBF\xAA\xBA\xBC\xBD\xBE";
  return closes_words(byte) || kOthers.find(static_cast<char>(byte)) != std::string_view::npos;
}

bool is_sequence_of_two(std::int32_t lead, int second, std::int32_t previous) {
  // Â and Ã stand for Latin-1's own characters. At the end of a word in capitals they are letters.
  const bool is_latin = lead == 0xC2 || lead == 0xC3;
  if (!is_latin) {
    // š, and ġ: no good text has ¡ behind Å or Ä.
    const bool is_extended = (lead == 0xC4 || lead == 0xC5) && second == 0xA1;
    return is_extended || !follows_words(second);
  }
  return !closes_words(second) || u_isupper(previous) == 0;
}

bool is_sequence_of_three(std::int32_t lead, int second, int third) {
  constexpr int kNoBreakSpace = 0xA0;
  if (second == kNoBreakSpace || third == kNoByte) return false;
  // The mark of UTF-8 itself, and U+FFFD.
  if (lead == 0xEF && ((second == 0xBB && third == 0xBF) || (second == 0xBF && third == 0xBD))) {
    return true;
  }
  return !follows_words(second) || !follows_words(third);
}

}  // namespace

bool is_mojibake(std::string_view text, std::int32_t lead, std::size_t after,
                 std::int32_t previous) {
  if (lead < 0xC2 || lead > 0xF4) return false;
  const int second = next_byte(text, after);
  if (second == kNoByte) return false;
  if (lead < 0xE0) return is_sequence_of_two(lead, second, previous);
  constexpr int kFirstOfEmoji = 0x9F;
  if (lead >= 0xF0) return lead == 0xF0 && second == kFirstOfEmoji;
  // â€ and â„ begin quotation marks, dashes and ™, whose last byte is sometimes lost.
  if (lead == 0xE2 && (second == 0x80 || second == 0x84)) return true;
  return is_sequence_of_three(lead, second, next_byte(text, after));
}

}  // namespace phsic
