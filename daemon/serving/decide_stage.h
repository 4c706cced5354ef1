// Decides about pairs by what they are, before they are scored: which break a rule. What no rule
// rejects is decided by its score (score_stage), and, where it teaches, as a duplicate
// (sequence_stage).
//
// Any number of threads, on different rows, each with a scratch of its own.
#pragma once

#include <vector>

#include "daemon/serving/lane_counters.h"
#include "daemon/serving/published_plan.h"
#include "daemon/serving/task.h"
#include "decide/rules.h"

namespace phsic {

class DecideStage {
 public:
  DecideStage(const PublishedPlan& plan, LaneCounters& counters)
      : plan_(plan), counters_(counters) {}

  // Drops rows that break a rule.
  void check(const std::vector<Slice>& slices, RuleScratch& scratch) const;
  // The same of one pair of texts.
  [[nodiscard]] ReasonCode broken_rule(std::string_view x, std::string_view y,
                                       RuleScratch& scratch) const;
  // Counts what was decided about rows that do not teach; about others there may be more to say.
  // REQUIRES: they are scored, as far as they can be.
  void count(const std::vector<Slice>& slices) const;

 private:
  const PublishedPlan& plan_;
  LaneCounters& counters_;
};

}  // namespace phsic
