// The two halves of a text, cut where it hurts least.
//
// The cut is at the white space nearest to the middle of the text, by bytes. A text without white
// space between a quarter and three quarters of it is cut between the characters nearest to the
// middle, if it has at least four. No cut parts a character or takes its marks away from it. White
// space around the text does not count.
//
// Any bytes: a broken sequence is a character. Linear in the text; allocates nothing; any thread.
#pragma once

#include <string_view>

namespace phsic::text {

// Views into the text: all of it but the white space at the cut. Neither is blank. Of a text that
// cannot be cut, both are the whole text.
struct Halves {
  std::string_view first;
  std::string_view second;
};

[[nodiscard]] Halves halves_of(std::string_view text);

}  // namespace phsic::text
