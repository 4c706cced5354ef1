#include "decide/text_facts.h"

#include <unicode/uchar.h>
#include <unicode/uscript.h>
#include <unicode/utf8.h>

#include <algorithm>
#include <array>

#include "decide/mojibake.h"

namespace phsic {
namespace {

// Counts of letters, digits and invisible characters in one number, 16 bits each: ASCII costs one
// addition a byte.
constexpr std::uint64_t kOneLetter = 1;
constexpr std::uint64_t kOneDigit = std::uint64_t{1} << 16U;
constexpr std::uint64_t kOneInvisible = std::uint64_t{1} << 32U;
constexpr std::size_t kMostAtOnce = 0xFFFF;

constexpr std::array<std::uint64_t, 128> kAscii = [] {
  std::array<std::uint64_t, 128> counts{};
  for (std::size_t c = 'a'; c <= 'z'; ++c) counts[c] = counts[c - 'a' + 'A'] = kOneLetter;
  for (std::size_t c = '0'; c <= '9'; ++c) counts[c] = kOneDigit;
  for (std::size_t c = 0; c <= ' '; ++c) counts[c] = kOneInvisible;
  counts[0x7F] = kOneInvisible;
  return counts;
}();

// Moves past the ASCII characters at `at`.
void count_ascii(std::string_view text, std::size_t& at, TextFacts& facts) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(text.data());
  const auto begin = at;
  const auto end = std::min(text.size(), begin + kMostAtOnce);
  std::uint64_t counts = 0;
  for (; at < end && bytes[at] < 0x80; ++at) counts += kAscii[bytes[at]];
  facts.characters += at - begin;
  facts.letters += counts & 0xFFFFU;
  facts.digits += counts >> 16U & 0xFFFFU;
  facts.invisible += counts >> 32U;
}

// Letters with accents of Latin-1 and of Latin's first extensions, which need no look into tables.
bool is_common_latin(std::int32_t point) {
  return point >= 0xC0 && point < 0x1BB && point != 0xD7 && point != 0xF7;
}

std::size_t density_of(std::int32_t point) {
  // Neither Chinese nor Japanese nor Korean begins before Hangul's first block.
  constexpr std::int32_t kFirst = 0x1100;
  if (point < kFirst) return 0;
  UErrorCode status = U_ZERO_ERROR;
  switch (uscript_getScript(point, &status)) {
    case USCRIPT_HAN: return 2;
    case USCRIPT_HIRAGANA:
    case USCRIPT_KATAKANA:
    case USCRIPT_HANGUL: return 1;
    default: return 0;
  }
}

void count_character(std::int32_t point, TextFacts& facts) {
  ++facts.characters;
  if (is_common_latin(point)) {
    ++facts.letters;
    return;
  }
  const auto kind = U_GET_GC_MASK(point);
  if ((kind & U_GC_L_MASK) != 0 && !is_invisible(point)) {
    ++facts.letters;
    facts.density += density_of(point);
  } else if ((kind & U_GC_N_MASK) != 0) {
    ++facts.digits;
  } else if ((kind & U_GC_M_MASK) != 0) {
    ++facts.marks;
  } else if (is_invisible(point)) {
    ++facts.invisible;
  }
}

// True at the end, too.
bool is_ascii_at(std::string_view text, std::size_t at) {
  return at >= text.size() || static_cast<unsigned char>(text[at]) < 0x80;
}

bool is_word_part(std::int32_t point) {
  return (U_GET_GC_MASK(point) & (U_GC_L_MASK | U_GC_N_MASK)) != 0;
}

}  // namespace

bool is_invisible(std::int32_t point) {
  constexpr std::int32_t kEmptyBraille = 0x2800;
  constexpr auto kHidden = U_GC_Z_MASK | U_GC_CC_MASK | U_GC_CF_MASK;
  return (U_GET_GC_MASK(point) & kHidden) != 0 || point == kEmptyBraille ||
         u_hasBinaryProperty(point, UCHAR_DEFAULT_IGNORABLE_CODE_POINT) != 0;
}

bool is_letter(std::int32_t point) { return (U_GET_GC_MASK(point) & U_GC_L_MASK) != 0; }

Character character_beyond_ascii(std::string_view text, std::size_t at) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(text.data());
  std::int32_t point = 0;
  U8_NEXT_OR_FFFD(bytes, at, text.size(), point);
  return {point, at};
}

TextFacts read_facts(std::string_view text) {
  TextFacts facts;
  std::int32_t previous = 0;
  for (std::size_t at = 0; at < text.size();) {
    const auto begin = at;
    count_ascii(text, at, facts);
    if (at == text.size()) break;
    if (at > begin) previous = static_cast<unsigned char>(text[at - 1]);
    if (is_ascii_at(text, at)) continue;  // a long run, cut
    const auto point = next_character(text, at);
    count_character(point, facts);
    constexpr std::int32_t kReplacement = 0xFFFD;
    if (point == kReplacement || (point >= 0x80 && point < 0xA0)) facts.is_badly_encoded = true;
    // What follows a sequence's first character is not ASCII either.
    const bool may_begin = point <= 0xF4 && !is_ascii_at(text, at);
    if (may_begin && !facts.is_badly_encoded) {
      facts.is_badly_encoded = is_mojibake(text, point, at, previous);
    }
    previous = point;
  }
  return facts;
}

bool is_blank(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const auto point = next_character(text, at);
    if (point > ' ' && point < 0x7F) return false;
    if (!is_invisible(point)) return false;
  }
  return true;
}

std::string_view core_of(std::string_view text) {
  std::size_t begin = 0;
  for (std::size_t at = 0; at < text.size(); begin = at) {
    if (is_word_part(next_character(text, at))) break;
  }
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(text.data());
  auto end = text.size();
  while (end > begin) {
    auto at = static_cast<std::int32_t>(end);
    std::int32_t point = 0;
    U8_PREV_OR_FFFD(bytes, static_cast<std::int32_t>(begin), at, point);
    if (is_word_part(point)) break;
    end = static_cast<std::size_t>(at);
  }
  // Marks on the last letter are a part of it.
  for (std::size_t at = end; !is_ascii_at(text, at); end = at) {
    if ((U_GET_GC_MASK(next_character(text, at)) & U_GC_M_MASK) == 0) break;
  }
  return text.substr(begin, end - begin);
}

}  // namespace phsic
