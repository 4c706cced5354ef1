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
  // A line that is a pair, or is none (kBadLineDecision). `p_value` may be NaN.
  void add(const Decision& decision, bool is_kept, double p_value);

  // What the session tells of itself in the end.
  struct Facts {
    std::string cut;  // "p 0.05"
    std::string estimator;
    std::optional<double> self_auc;
    std::optional<double> random_share;
    std::optional<double> good_lost;  // estimated, by the cut of the last model
    std::optional<double> floor;      // the smallest p-value there is, where the cut asks for less
  };
  [[nodiscard]] static Facts facts_of(const Session& session);

  // One JSON object, several lines.
  [[nodiscard]] std::string json(const Facts& facts) const;
  // Lines for a reader.
  [[nodiscard]] std::string summary(const Facts& facts) const;
  // How many pairs have which p-value, as bars.
  [[nodiscard]] std::string histogram() const;

 private:
  // Upper bounds of the bins, which are included.
  static constexpr std::array kBounds = {.001, .003, .01, .03, .1, .3, 1.0};

  [[nodiscard]] double share_kept() const;

  std::uint64_t lines_ = 0;
  std::uint64_t kept_ = 0;
  std::uint64_t bad_lines_ = 0;
  std::array<std::uint64_t, 3> verdicts_{};               // of pairs, by Verdict
  std::map<ReasonCode, std::uint64_t> reasons_;           // of lines that have one
  std::array<std::uint64_t, kBounds.size()> p_values_{};  // of pairs that have one
};

}  // namespace phsic
