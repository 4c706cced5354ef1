// What rules know of a text after one pass over its bytes, and where its words begin and end.
//
// Characters are told apart by Unicode's properties, so that no script is better off than another.
// Any bytes: what is not UTF-8 reads as U+FFFD. Pure; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace phsic {

struct TextFacts {
  std::size_t characters = 0;  // all of them
  std::size_t letters = 0;
  std::size_t digits = 0;     // decimal ones, and other numbers
  std::size_t marks = 0;      // accents and vowel signs, which stand on other characters
  std::size_t invisible = 0;  // white space, controls, and what is not drawn
  // A Chinese character says as much as three letters, one of Japan's or Korea's own as much as
  // two: what they say beyond one letter.
  std::size_t density = 0;
  bool is_badly_encoded = false;  // U+FFFD, C1 controls, mojibake

  // Letters, digits and signs.
  [[nodiscard]] std::size_t visible() const { return characters - marks - invisible; }
  // The length in letters.
  [[nodiscard]] std::size_t length() const { return characters + density; }

  bool operator==(const TextFacts&) const = default;
};

[[nodiscard]] TextFacts read_facts(std::string_view text);

// True if nothing of the text is visible. Looks no further than the first character that is.
[[nodiscard]] bool is_blank(std::string_view text);

// From the first letter or digit to the last one and its marks; empty if there is none. REQUIRES: a
// text shorter than 2 GiB.
[[nodiscard]] std::string_view core_of(std::string_view text);

// White space, controls, and characters that are not drawn.
[[nodiscard]] bool is_invisible(std::int32_t point);
[[nodiscard]] bool is_letter(std::int32_t point);

// A character, and where the next one begins.
struct Character {
  std::int32_t point;
  std::size_t end;
};

// The character at `at`, which is not ASCII.
[[nodiscard]] Character character_beyond_ascii(std::string_view text, std::size_t at);

// The character at `at`, which moves past it. Small enough for a loop: ASCII needs no call, and
// `at` stays in a register.
[[nodiscard]] inline std::int32_t next_character(std::string_view text, std::size_t& at) {
  const auto byte = static_cast<std::uint8_t>(text[at]);
  if (byte < 0x80) {
    ++at;
    return byte;
  }
  const auto character = character_beyond_ascii(text, at);
  at = character.end;
  return character.point;
}

}  // namespace phsic
