// What the texts of each side of a stream look like, letter by letter: enough to tell that a text
// stands on the wrong side, or in a script that the side does not have.
//
// Hashed counts of runs of three letters, and of texts by their main script, for each side, of
// fixed size. A text is judged by the mean over its runs of log(share on the other side / share on
// its own). A stream whose sides are of one language tells nothing by it: where the shares of both
// sides are alike, no text is of the other side. Some texts on the wrong side do no harm. Counts
// are halved when they become large, so that a stream may change its languages. Saved, merged by
// addition. A value; not synchronised. Linear in the texts, and allocates nothing once made.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/archive.h"

namespace phsic {

class LanguageProfile {
 public:
  LanguageProfile();

  // Counts a pair that was learned.
  void learn(std::string_view x, std::string_view y);
  // True if the text clearly looks more like the other side's than like its own side's. Never
  // before a few hundred pairs were learned, nor for a text of a few letters.
  [[nodiscard]] bool is_of_other_side(std::string_view text, bool is_x) const;
  // True if most letters of the text are of a script that hardly occurs on its side, while nearly
  // all texts there are of one script.
  [[nodiscard]] bool is_of_rare_script(std::string_view text, bool is_x) const;

  void merge(const LanguageProfile& other);
  void save(Writer& writer) const;
  // Throws an Error unless save() can have written it.
  [[nodiscard]] static LanguageProfile load(Reader& reader);
  bool operator==(const LanguageProfile&) const = default;

 private:
  struct Side {
    std::vector<std::uint32_t> scripts;   // texts by their main script
    std::vector<std::uint32_t> trigrams;  // by their hashes
    std::uint64_t texts = 0;              // the sum of `scripts`
    std::uint64_t runs = 0;               // the sum of `trigrams`
    std::uint64_t squares = 0;            // the sum of their squares

    bool operator==(const Side&) const = default;
  };

  void learn_side(std::string_view text, Side& side, const Side& other);
  // Halves counts that have become too large.
  void settle();
  // Finds all sums again.
  void sum_up();
  [[nodiscard]] bool are_sides_alike() const;

  Side x_;
  Side y_;
  std::uint64_t products_ = 0;  // the sum of x's counts of trigrams times y's
  std::uint64_t pairs_ = 0;
};

}  // namespace phsic
