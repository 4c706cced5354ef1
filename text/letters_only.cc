#include "text/letters_only.h"

#include <unicode/uchar.h>
#include <unicode/utf8.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace phsic::text {
namespace {

constexpr UChar32 kLeftOut = 0;
constexpr UChar32 kNumber = '0';
constexpr UChar32 kBroken = 0xFFFD;
// Characters of one or two bytes: Latin, Greek, Cyrillic, Hebrew, Arabic.
constexpr std::size_t kNearPoints = 0x800;
// A broken byte becomes a character of three; folding makes at most three bytes of two.
constexpr std::size_t kMostGrowth = 3;

UChar32 kept_of(UChar32 point) {
  const std::uint32_t category = U_GET_GC_MASK(point);
  if ((category & U_GC_N_MASK) != 0) return kNumber;
  if (point == kBroken) return kBroken;
  if ((category & (U_GC_L_MASK | U_GC_M_MASK)) == 0) return kLeftOut;
  if (u_hasBinaryProperty(point, UCHAR_DEFAULT_IGNORABLE_CODE_POINT)) return kLeftOut;
  return u_foldCase(point, U_FOLD_CASE_DEFAULT);
}

// kept_of() for the near points, whose foldings are all below 2^16.
using NearTable = std::array<std::uint16_t, kNearPoints>;

const NearTable& near_table() {
  static const NearTable kTable = [] {
    NearTable table{};
    for (std::size_t point = 0; point < table.size(); ++point) {
      table[point] = static_cast<std::uint16_t>(kept_of(static_cast<UChar32>(point)));
    }
    return table;
  }();
  return kTable;
}

}  // namespace

std::size_t append_letters(std::string_view text, std::string& out) {
  const NearTable& table = near_table();
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(text.data());
  const std::size_t begin = out.size();
  out.resize(begin + kMostGrowth * text.size());
  auto* const kept = reinterpret_cast<std::uint8_t*>(out.data()) + begin;
  std::size_t size = 0;
  std::size_t numbers = 0;
  for (std::size_t at = 0; at < text.size();) {
    UChar32 point = bytes[at];
    if (U8_IS_SINGLE(point)) {
      ++at;
    } else {
      U8_NEXT_OR_FFFD(bytes, at, text.size(), point);
    }
    const auto index = static_cast<std::size_t>(point);
    point = index < kNearPoints ? table[index] : kept_of(point);
    if (point < 0x80) {
      numbers += point == kNumber ? 1 : 0;
      // Without a branch for letters: where words end cannot be predicted.
      if (point == kNumber && size > 0 && kept[size - 1] == kNumber) continue;
      kept[size] = static_cast<std::uint8_t>(point);
      size += point != kLeftOut ? 1 : 0;
    } else {
      U8_APPEND_UNSAFE(kept, size, point);
    }
  }
  out.resize(begin + size);
  if (size == 0) out.append(text);
  return numbers;
}

}  // namespace phsic::text
