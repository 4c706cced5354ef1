// What deciding remembers of a stream: pairs learned not long ago, how many were rejected, what the
// sides look like, the cut. All of it is a function of what was learned and rejected, in order, so
// that a journal can be replayed; nothing is decided again then.
//
// One thread at a time. What other threads need is handed out as values.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/archive.h"
#include "core/calibration.h"
#include "decide/cut.h"
#include "decide/decide_spec.h"
#include "decide/decision.h"
#include "decide/language_profile.h"
#include "decide/recent_pairs.h"
#include "engine/batch.h"

namespace phsic {

class DecisionMemory {
 public:
  explicit DecisionMemory(const DecidePlan& plan);

  [[nodiscard]] const DecidePlan& plan() const { return plan_; }
  // Takes over what may change while a stream is served: all but the window of duplicates.
  void set_plan(const DecidePlan& plan);

  // Notes a pair that was learned. Pairs come in the order in which they were learned or rejected.
  void learned(std::string_view x, std::string_view y, const PairKey& key,
               const Decision& decision);
  void learned(const PairKey& key, const Decision& decision);  // vectors
  // Notes a pair that was not learned: it broke a rule, or is a duplicate, which is dropped or
  // judged by its score. If most pairs are rejected, and by what the sides look like, the stream
  // has become another one: these rules are then off until the next model, lest nothing is learned
  // any more.
  void rejected(const Decision& decision);

  // The cut of a model that is about to come into use. The profile of languages that rules go by
  // becomes the present one.
  [[nodiscard]] std::optional<double> choose_cut(const Calibration& calibration);
  // False until there is a cut for the model in use, by the present plan.
  [[nodiscard]] bool has_cut() const { return has_cut_; }
  // What choose_cut() gave; REQUIRES: has_cut().
  [[nodiscard]] const std::optional<double>& cut() const { return chosen_; }
  // What choose_cut() has changed, for a journal.
  [[nodiscard]] std::string cut_note() const;
  // From a journal: a model came into use. Its cut is not known until its note comes.
  void replay_adoption();
  // From a journal: what cut_note() gave right after choose_cut(). Throws an Error, and nothing
  // changes, if it is damaged.
  void replay_cut(std::string_view note);

  [[nodiscard]] const RecentPairs& recent() const { return recent_; }
  // As of the last choose_cut(), or empty (see rejected()); never null, and never changes.
  [[nodiscard]] const std::shared_ptr<const LanguageProfile>& profile() const { return profile_; }
  // The recent share of pairs that rules and duplicates took away.
  [[nodiscard]] double rejected_share() const;

  // Decisions so far about pairs that taught, or were to teach.
  struct Counts {
    std::array<std::uint64_t, 3> verdicts{};  // by Verdict
    std::map<ReasonCode, std::uint64_t> reasons;
    std::uint64_t rejected = 0;  // not learned
    bool operator==(const Counts&) const = default;
  };
  [[nodiscard]] const Counts& counts() const { return counts_; }

  // A part of saved state that knows its own version.
  static constexpr std::string_view kArchiveKind = "DECI";
  [[nodiscard]] std::string save() const;
  // Throws an Error, and nothing changes, unless save() wrote it. The plan stays.
  void load(std::string_view bytes);
  // Adds what was decided about other pairs; the cut stays.
  void merge(const DecisionMemory& other);

 private:
  void count(const Decision& decision, bool is_rejected);
  void save_cut(Writer& writer) const;
  void load_cut(Reader& reader);

  DecidePlan plan_;
  RecentPairs recent_;
  LanguageProfile running_;
  std::shared_ptr<const LanguageProfile> profile_;
  CutPolicy cut_;
  std::optional<double> chosen_;
  bool has_cut_ = false;
  double rejected_ = 0;  // decayed counts
  double seen_ = 0;
  Counts counts_;
};

// The decision about a pair that no rule and no memory rejects. `cut` is none before there is a
// model that can tell; a score of NaN is none.
[[nodiscard]] Decision decide_by_score(double score, const std::optional<double>& cut);
// The same by a model: by the score, or by its judge where the cut is one of quality. What the
// judge drops has the likeliest damage as its reason. Null: the judge has said nothing, or there is
// none yet; then the usual p-value decides.
[[nodiscard]] Decision decide_by_model(const PublishedModel& published, double score,
                                       const Judgement* judgement);
// The decision about a pair that breaks this rule, or was rejected for another such reason: it is
// dropped, whatever its score. A code that is no rejection, such as reasons::kNone, gives
// `otherwise`.
[[nodiscard]] Decision decide_by_rule(ReasonCode broken, const Decision& otherwise);

}  // namespace phsic
