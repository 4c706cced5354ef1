// Rules: what is wrong with a pair of texts whatever its score, under the names that
// bicleaner-hardrules has given them.
//
// One row of the table for each rule: its name, whether it is on by default, what it rejects, and
// one function. A rule looks at the two texts alone, and at what languages the stream has on each
// side (language_profile.h). Rules are pure: any number of threads, each with a scratch of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "decide/decision.h"
#include "text/tokenizer.h"

namespace phsic {

class LanguageProfile;

// Which side of a pair breaks a rule; kBoth: the pair as a whole.
enum class PairSide : std::uint8_t { kBoth, kLeft, kRight };

// Memory that is kept from pair to pair. One for each thread.
struct RuleScratch {
  text::Tokens words[2];
  std::string folded[2];
  std::vector<std::uint64_t> numbers[2];
};

// What a rule sees of a pair (rule_pair.h): the texts, and facts about them that are found when
// first asked for.
class RulePair;

struct Rule {
  std::uint8_t number;  // never changes: journals keep it; below 52
  std::string_view name;
  bool is_default;
  std::string_view about;  // what it rejects, in words
  // Whether the pair breaks the rule; `side` is written only then.
  bool (*breaks)(RulePair& pair, PairSide& side);
};

// In the order in which they are tried: cheap ones first, and no_empty before all.
[[nodiscard]] std::span<const Rule> rule_table();

// The code of a rule that is broken on that side.
[[nodiscard]] ReasonCode reason_of(const Rule& rule, PairSide side);

// Whether it is the reason of a rule that goes by what the stream has taught of its sides.
[[nodiscard]] bool is_about_language(ReasonCode code);

// Which rules are on. A value.
class RuleSet {
 public:
  // The default ones.
  RuleSet();
  [[nodiscard]] static RuleSet none();
  [[nodiscard]] static RuleSet hard();  // all
  // "default", "hard", "none", or names between commas; "-name" takes one away, so that
  // "hard,-no_titles" is all but one. What begins by taking away begins with the default ones.
  // Throws an Error that lists the names.
  [[nodiscard]] static RuleSet parse(std::string_view text);

  [[nodiscard]] bool has(const Rule& rule) const { return (bits_ >> rule.number & 1U) != 0; }
  void set(const Rule& rule, bool on);
  // As parse() reads it: "default", "hard", "none", or the names.
  [[nodiscard]] std::string to_string() const;

  bool operator==(const RuleSet&) const = default;

 private:
  std::uint64_t bits_ = 0;
};

// The rule of that name; null if there is none.
[[nodiscard]] const Rule* find_rule(std::string_view name);

// The first rule of the set that the pair breaks; reasons::kNone if it breaks none. `profile` may
// be null: then no rule about languages is broken. Any bytes: what is not UTF-8 reads as U+FFFD. Of
// a text, the first 64 MiB are read. Linear in the texts; the default rules allocate nothing once
// the scratch has grown.
[[nodiscard]] ReasonCode broken_rule(const RuleSet& rules, std::string_view x, std::string_view y,
                                     const LanguageProfile* profile, RuleScratch& scratch);

}  // namespace phsic
