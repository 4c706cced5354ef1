// What is wrong with one text, told from its characters in one pass: markup, menus, addresses,
// noise.
//
// Any bytes: what is not UTF-8 reads as U+FFFD. Linear in the text, allocates nothing. Any thread.
#pragma once

#include <cstddef>
#include <string_view>

namespace phsic {

// Pieces of templates and mails: Re: {{ }} %s +++ *** ="
[[nodiscard]] bool has_literals(std::string_view text);
// At least half of what is visible are addresses: with a scheme, of www or of mail, or a host and a
// path.
[[nodiscard]] bool is_mostly_addresses(std::string_view text);
// Two or more of | and of » → ← • · between spaces, or three or more of - / > : :: between spaces.
[[nodiscard]] bool has_breadcrumbs(std::string_view text);
// A word with two capitals or more inside, each after a small letter, or of more than 60 letters
// that have cases.
[[nodiscard]] bool has_glued_words(std::string_view text);
// Characters that no text has: for private use, of no meaning, controls, boxes; three of them, or a
// tenth. Also more marks than a letter can bear, and seven accented letters in a row.
[[nodiscard]] bool has_unicode_noise(std::string_view text);
// Five letters in a row with white space around each; Chinese, Japanese and Korean ones aside.
[[nodiscard]] bool has_space_noise(std::string_view text);
// \u00e9, \xe9, &#233;
[[nodiscard]] bool has_escapes(std::string_view text);

struct Brackets {
  std::size_t opening = 0;  // round ones
  std::size_t closing = 0;
  bool are_bad = false;  // more than six of another kind, or not as many opening as closing
};
[[nodiscard]] Brackets count_brackets(std::string_view text);

}  // namespace phsic
