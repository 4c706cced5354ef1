// Pairs that are damaged on purpose, in eleven kinds: what a judge learns to tell from good pairs.
//
// A kind damages one pair of a stream with the help of another, which lends texts. Damage is a
// function of both pairs and of what Random draws. It cuts only between units of a text
// (text/text_units.h): what is UTF-8 stays UTF-8. Any bytes. A damaged text is at most as long as
// two of those it is made from and a space. Linear in the texts; allocates; any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/random.h"

namespace phsic {

// The texts stay the caller's.
struct TextPairView {
  std::string_view x;
  std::string_view y;
};

struct DamagedPair {
  std::string x;
  std::string y;
};

struct DamageKind {
  std::uint8_t number;     // below 32; never changes: saved state keeps it
  std::string_view name;   // as reasons name it
  std::string_view about;  // in words: "the end of y is missing"
  bool changes_words;      // false: exchanges whole texts, so that nothing has to be encoded anew
  // Damages `pair` with the help of `other`, a pair of the same stream. One side of `out` is that
  // of `pair`. False, and `out` is unspecified: the pair cannot be damaged so, or the result would
  // be one of the two pairs but for white space, or blank.
  bool (*damage)(const TextPairView& pair, const TextPairView& other, Random& random,
                 DamagedPair& out);
};

// By number, which is also the place.
[[nodiscard]] std::span<const DamageKind> damage_kinds();

}  // namespace phsic
