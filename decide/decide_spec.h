// What a user says of decisions about a stream's pairs: rules, duplicates, the cut.
//
// One table holds every option with its default and meaning, as engine/stream_spec.h does for what
// a stream is: flags, YAML and documents are made from it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "decide/cut.h"
#include "decide/rules.h"
#include "engine/stream_spec.h"
#include "engine/yaml_tree.h"

namespace phsic {

// What becomes of a pair if the same pair, or nearly the same, came before.
enum class DuplicatePolicy : std::uint8_t {
  kDrop,   // dropped, and not learned again
  kOnce,   // judged by its score, and not learned again
  kLearn,  // a pair like any other
};

// What decides about a pair where no cut is named.
enum class Decider : std::uint8_t {
  kJudge,  // its quality
  kScore,  // its p-value
};

struct DecideSpec {
  std::optional<RuleSet> rules;  // none: the default ones
  DuplicatePolicy duplicates = DuplicatePolicy::kDrop;
  std::uint32_t duplicate_window = 131072;
  std::optional<CutSpec> cut;  // none: as decides_by says, or nothing where the stream counts
  std::optional<Decider> decides_by;  // none: the judge where there is one, else the score
  bool keeps_undecided = true;

  bool operator==(const DecideSpec&) const = default;

  // Throws an Error that names the option, what was found and what was expected.
  void set(std::string_view option, std::string_view value);
};

// A DecideSpec for one stream, with nothing left unsaid: identical texts break no rule where they
// are learned; a stream that counts has no duplicates, is cut by its score alone, and has no rules
// about languages, which are known as of the last model.
struct DecidePlan {
  RuleSet rules;
  DuplicatePolicy duplicates = DuplicatePolicy::kDrop;
  std::uint32_t duplicate_window = 0;
  CutSpec cut;
  bool keeps_undecided = true;

  bool operator==(const DecidePlan&) const = default;
};
// Throws an Error that says which options contradict each other.
[[nodiscard]] DecidePlan plan_of(const DecideSpec& spec, const StreamSpec& stream);

struct DecideOption {
  std::string_view name;
  std::string_view value;     // what is expected, in a word
  std::string_view fallback;  // the default, in words
  std::string_view about;
  bool reloads;    // whether a running daemon takes it over
  bool is_served;  // false: for filters alone, no option of a daemon's stream
  void (*set)(DecideSpec& spec, std::string_view value);
};

[[nodiscard]] std::span<const DecideOption> decide_options();
// The option of that name; null if there is none.
[[nodiscard]] const DecideOption* find_decide_option(std::string_view name);
// True for keep, p, fdr, percentile and score: there is one of these.
[[nodiscard]] bool is_cut_option(std::string_view name);
// The value of an option in YAML, as set() reads it: a text, or a list of rules. Throws an Error
// that says what was found and what was expected.
[[nodiscard]] std::string decide_notation(const DecideOption& option, const YamlNode& value);
// What a daemon says of an option in its configuration that is not served.
inline constexpr const char* kNotServed =
    "found an option of filters, expected none in a daemon, which tells what is undecided; say "
    "`phsic filter --undecided reject`";
// What to write instead of an option of earlier versions; empty if the name is none of those.
[[nodiscard]] std::string_view advice_for(std::string_view name);

}  // namespace phsic
