// What is left of a text when its case, signs, spaces and the values of its numbers are ignored:
// texts that are nearly the same leave the same.
//
// Character by character, the same in every locale:
//   - what Unicode says to ignore (default ignorable: soft hyphens, joiners, variation selectors)
//     is left out;
//   - letters (general category L) and marks (M) are kept, in simple case folding: "A" as "a", the
//     final sigma as the other one. Simple folding changes no length, so "ß" is not "ss", and the
//     Turkish dotless and dotted i are letters of their own;
//   - numbers (N, of any script) become "0", and several with no letter or mark between them become
//     one: "page 9", "page 10" and "page 1,024" leave "page0";
//   - a broken sequence of bytes leaves U+FFFD, and U+FFFD itself is kept;
//   - everything else (signs, symbols, spaces, control and unassigned characters) is left out.
// A text that leaves nothing leaves its own bytes, so that "?!" and "..." stay different; they
// cannot be what another text leaves. Nothing is normalised: a letter with an accent and a letter
// followed by one are different.
//
// Any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace phsic::text {

// Appends what the text leaves to `out`, and returns how many characters of the text are numbers.
// One pass; allocates only where `out` must grow to hold three times the text.
std::size_t append_letters(std::string_view text, std::string& out);

}  // namespace phsic::text
