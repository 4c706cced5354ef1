// Decides about pairs in two steps. Before a pair is scored the stage finds out whether it breaks a
// rule; afterwards the pairs that no rule rejects are decided about by the cut of the model that
// scored them. Duplicates among pairs that teach are found later (sequence_stage).
//
// Any number of threads, on different rows, each with a scratch of its own.
#pragma once

#include <string_view>
#include <vector>

#include "daemon/serving/lane_counters.h"
#include "daemon/serving/published_plan.h"
#include "daemon/serving/task.h"
#include "daemon/serving/worker_scratch.h"
#include "decide/decision.h"
#include "decide/rules.h"
#include "engine/batch.h"

namespace phsic {

class DecideStage {
 public:
  DecideStage(const PublishedPlan& plan, LaneCounters& counters)
      : plan_(plan), counters_(counters) {}

  // Drops rows that break a rule. Before they are scored.
  void check(const std::vector<Slice>& slices, RuleScratch& scratch) const;
  // Decides about all other rows by their scores, and counts the decisions about rows that do not
  // teach: about the others more may be said later. REQUIRES: the score stage is done with all that
  // was taken into this scratch.
  void decide(const WorkerScratch& scratch) const;

  // Both steps for one pair of texts, of which nothing is counted. `judgement` is null where the
  // model has no judge.
  [[nodiscard]] Decision decide(std::string_view x, std::string_view y,
                                const PublishedModel& published, double score,
                                const Judgement* judgement) const;

 private:
  static void decide(const Group& group);
  void count(const std::vector<Slice>& slices) const;

  const PublishedPlan& plan_;
  LaneCounters& counters_;
};

}  // namespace phsic
