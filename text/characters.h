// The characters of a text, one after the other: which are white space, and which stand on others.
//
// Any bytes: a broken sequence reads as one U+FFFD. Pure; any thread.
#pragma once

#include <unicode/uchar.h>
#include <unicode/utf8.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace phsic::text {

// The character at `at`, which moves past it. REQUIRES: at < text.size().
[[nodiscard]] inline std::int32_t next_character(std::string_view text, std::size_t& at) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(text.data());
  if (bytes[at] < 0x80) return bytes[at++];
  std::int32_t point = 0;
  U8_NEXT_OR_FFFD(bytes, at, text.size(), point);
  return point;
}

// Unicode's White_Space.
[[nodiscard]] inline bool is_white_space(std::int32_t point) {
  constexpr std::int32_t kLast = 0x3000;
  if (point < 0x80) return point == ' ' || (point >= '\t' && point <= '\r');
  return point <= kLast && u_isUWhiteSpace(point) != 0;
}

// Whether it belongs to the character before it: accents, vowel signs, joiners, skin tones.
[[nodiscard]] inline bool is_mark(std::int32_t point) {
  constexpr std::int32_t kFirst = 0x300;
  if (point < kFirst) return false;
  if ((U_GET_GC_MASK(point) & U_GC_M_MASK) != 0) return true;
  const auto kind = u_getIntPropertyValue(point, UCHAR_GRAPHEME_CLUSTER_BREAK);
  return kind == U_GCB_EXTEND || kind == U_GCB_SPACING_MARK || kind == U_GCB_ZWJ;
}

}  // namespace phsic::text
