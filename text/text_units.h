// The units of a text that can be moved about: words, or single characters where a language is
// written without white space between words.
//
// Words end at Unicode's white space. A text is cut into characters instead, each with the marks
// that follow it, where most of its letters are of scripts without spaces (Chinese, Japanese, Thai)
// or where its words have more than 15 characters on average. Marks do not count. Any bytes: a
// broken sequence is a character. Linear in the text.
//
// Units are views into the text, which must outlive them. Immutable; any thread.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace phsic::text {

struct TextUnit {
  std::string_view text;  // never empty, without white space
  // Whether a space stands before it when units are joined: before each word, and before a
  // character that has white space before it in its text.
  bool is_spaced = false;

  bool operator==(const TextUnit&) const = default;
};

class TextUnits {
 public:
  explicit TextUnits(std::string_view text);

  [[nodiscard]] std::size_t size() const { return units_.size(); }
  [[nodiscard]] std::string_view unit(std::size_t i) const { return units_[i].text; }
  [[nodiscard]] std::span<const TextUnit> units() const { return units_; }

  // Units first .. end - 1 with the white space between them, as they stand in the text. Empty if
  // there are none. REQUIRES: first <= end <= size().
  [[nodiscard]] std::string_view part(std::size_t first, std::size_t end) const;

  // What stands between this text and one that is put after it: a space, or nothing.
  [[nodiscard]] std::string_view joiner() const { return is_words_ ? " " : ""; }

 private:
  void cut_into_characters(std::string_view text);

  bool is_words_ = true;
  std::vector<TextUnit> units_;
};

// Units, of one text or of several, as one text: a space before each that is spaced, but the first.
[[nodiscard]] std::string join(std::span<const TextUnit> units);

}  // namespace phsic::text
