// The Stream-Safe Text Format of Unicode (UAX #15): no more than 30 marks in a row.
//
// Normalising puts the marks on a character in order by moving each past those before it, so that
// a text of marks alone costs the square of its length. No language needs more than a few marks on
// a character.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace phsic::text {

// Marks (characters of a combining class other than 0) in a row, at most, as they are in NFKD.
inline constexpr std::size_t kMostMarks = 30;
// The character put between two runs: U+034F, COMBINING GRAPHEME JOINER, which is no mark itself.
inline constexpr std::string_view kGraphemeJoiner = "\u034F";

// The bytes of `text` before which a grapheme joiner makes it stream-safe, ascending; none for
// nearly every text. Characters that case folding drops (default ignorable ones, the joiner among
// them) do not end a run: marks on both sides of one meet once it is gone. Linear in the text. What
// is not UTF-8 counts as a character without marks.
[[nodiscard]] std::vector<std::size_t> stream_safe_cuts(std::string_view text);

}  // namespace phsic::text
