// Finding a word in a model that may have it in another case: "Paris" as "paris", or "nasa" as
// "NASA".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "plugins/options.h"
#include "text/letter_case.h"
#include "text/tokenizer.h"

namespace phsic::plugins {

// What to do about case, as users choose it.
class CaseRule {
 public:
  // The option of that name: "fallback", "keep" or "fold".
  explicit CaseRule(const Options& options, std::string_view name = "case")
      : name_(options.choice(name, {"fallback", "keep", "fold"})),
        has_fallback_(name_ == "fallback") {}

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] text::Normalization normalization() const {
    return name_ == "fold" ? text::Normalization::kNfkcCasefold : text::Normalization::kNfc;
  }

  // find(word). If that finds nothing and the rule allows it: find() of the word in lower case,
  // then capitalised, then in upper case. The first result counts. `scratch` holds the word's other
  // forms.
  template <class Find>
  [[nodiscard]] std::optional<std::uint32_t> find(std::string_view word, std::string& scratch,
                                                  const Find& find_exactly) const {
    auto found = find_exactly(word);
    if (found || !has_fallback_) return found;
    using text::LetterCase;
    for (const auto other : {LetterCase::kLower, LetterCase::kCapitalised, LetterCase::kUpper}) {
      text::write_in_case(word, other, scratch);
      if (scratch == word) continue;
      found = find_exactly(scratch);
      if (found) break;
    }
    return found;
  }

 private:
  std::string name_;
  bool has_fallback_;
};

}  // namespace phsic::plugins
