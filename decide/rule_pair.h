// A pair as rules see it: its texts, and facts about them that are found when first asked for.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "decide/language_profile.h"
#include "decide/rules.h"
#include "decide/text_facts.h"

namespace phsic {

class RulePair {
 public:
  RulePair(std::string_view x, std::string_view y, const LanguageProfile* profile,
           RuleScratch& scratch)
      : texts_{x, y}, profile_(profile), scratch_(scratch) {}

  // Sides are 0 for x, on the left, and 1 for y.
  [[nodiscard]] std::string_view text(std::size_t side) const { return texts_[side]; }
  [[nodiscard]] const TextFacts& facts(std::size_t side);
  // The words of the text in their own case, signs left out; of a long text, those of its
  // beginning.
  [[nodiscard]] const text::Tokens& words(std::size_t side);
  // Null if nothing is known of the stream's languages.
  [[nodiscard]] const LanguageProfile* profile() const { return profile_; }
  [[nodiscard]] RuleScratch& scratch() { return scratch_; }

 private:
  std::array<std::string_view, 2> texts_;
  const LanguageProfile* profile_;
  RuleScratch& scratch_;
  std::array<TextFacts, 2> facts_;
  std::array<bool, 2> has_facts_{};
  std::array<bool, 2> has_words_{};
};

// The same text but for case, and for white space and signs at its ends.
[[nodiscard]] bool are_identical(RulePair& pair);
// Whether the same numbers are in both texts, whatever their order, their separators and the
// script of their digits.
[[nodiscard]] bool have_same_numbers(RulePair& pair);
// Two words or more, all of which begin with a capital.
[[nodiscard]] bool is_title(const text::Tokens& words);
// A word longer than seven letters twice in a row, or a phrase of two to four words longer than
// fifteen.
[[nodiscard]] bool has_repeated_words(const text::Tokens& words);

}  // namespace phsic
