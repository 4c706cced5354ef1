// What a filter has done, counted: for its summary and for a file of statistics.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "cli/session/session.h"
#include "decide/decision.h"

namespace phsic {

class FilterStats {
 public:
  // A line that is a pair, or is none (kBadLineDecision). `p_value`, which may be NaN, counts for
  // pairs that are judged by their scores.
  void add(const Decision& decision, bool is_kept, double p_value);

  // What the session tells of itself in the end.
  struct Facts {
    std::string cut;  // "p 0.05"
    std::string estimator;
    std::optional<double> self_auc;
    std::vector<ViewFacts> views;  // empty where there is one
    std::optional<DamageFacts> damage;
    bool has_no_judge = false;       // although the cut is one of quality
    std::optional<double> p_at_cut;  // the p-value of the lowest score kept
    std::optional<double> floor;     // the smallest p-value there is, where the cut asks for less
    bool teaches_daemon = false;     // the pairs were learned by a stream that outlives the filter
  };
  [[nodiscard]] static Facts facts_of(const Session& session);

  // One JSON object, several lines.
  [[nodiscard]] std::string json(const Facts& facts) const;
  // Lines for a reader.
  [[nodiscard]] std::string summary(const Facts& facts) const;
  // How many pairs have which p-value, as bars.
  [[nodiscard]] std::string histogram() const;

  // The estimated share of random pairings among the pairs judged (Storey, 2002): twice those whose
  // p-value is above a half. None if too few were judged to tell.
  [[nodiscard]] std::optional<double> random_share() const;
  // The estimated share of all others that the cut has dropped: (d - r (1 - p)) / (1 - r), where a
  // share d was dropped, r are random pairings, and p is the p-value at the cut.
  [[nodiscard]] std::optional<double> good_lost(const Facts& facts) const;

 private:
  // Upper bounds of the bins, which are included.
  static constexpr std::array kBounds = {.001, .003, .01, .03, .1, .3, 1.0};

  [[nodiscard]] double share_kept() const;
  [[nodiscard]] std::uint64_t count_of(ReasonCode reason) const;

  std::uint64_t lines_ = 0;
  std::uint64_t kept_ = 0;
  std::uint64_t bad_lines_ = 0;
  std::array<std::uint64_t, 3> verdicts_{};               // of pairs, by Verdict
  std::map<ReasonCode, std::uint64_t> reasons_;           // of lines that are not kept
  std::uint64_t judged_ = 0;                              // pairs with a p-value
  std::uint64_t above_half_ = 0;                          // of them: with one above 0.5
  std::uint64_t cut_ = 0;                                 // of them: dropped
  std::array<std::uint64_t, kBounds.size()> p_values_{};  // of pairs that have one
};

}  // namespace phsic
