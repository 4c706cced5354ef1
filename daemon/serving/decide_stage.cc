#include "daemon/serving/decide_stage.h"

#include <cstddef>
#include <new>

#include "decide/decision_memory.h"

namespace phsic {

void DecideStage::check(const std::vector<Slice>& slices, RuleScratch& scratch) const {
  const auto plan = plan_.plan();
  const auto profile = plan_.profile();
  for (const auto& [task, first, count] : slices) {
    const auto& pairs = task->request.pairs;
    auto& outcome = task->outcome;
    if (outcome.reason.empty() || pairs.are_vectors) continue;
    for (std::size_t row = first; row < first + count; ++row) {
      try {
        const auto code =
            broken_rule(plan->rules, pairs.x[row], pairs.y[row], profile.get(), scratch);
        if (code != reasons::kNone) outcome.decide(row, {Verdict::kDrop, code});
      } catch (const std::bad_alloc&) {
        // Without memory to look at it the pair is judged by its score alone.
      }
    }
  }
}

void DecideStage::decide(const WorkerScratch& scratch) const {
  for (std::size_t k = 0; k < scratch.groups_used; ++k) decide(scratch.groups[k]);
  count(scratch.taken.slices);
}

// Goes by the scores in the outcomes. A row that could not be scored becomes undecided.
void DecideStage::decide(const Group& group) {
  const auto& batch = group.batch;
  std::size_t offset = 0;
  for (const auto& [task, first, count] : group.slices) {
    auto& outcome = task->outcome;
    if (task->request.operation == Operation::kScore) {
      for (std::size_t i = 0; i < count; ++i) {
        const auto row = first + i;
        const auto by_score =
            decide_by_model(*batch.published, outcome.score[row], batch.judgement(offset + i));
        outcome.decide(row, decide_by_rule(outcome.reason[row], by_score));
      }
    }
    offset += count;
  }
}

Decision DecideStage::decide(std::string_view x, std::string_view y,
                             const PublishedModel& published, double score,
                             const Judgement* judgement) const {
  RuleScratch scratch;
  const auto code = broken_rule(plan_.plan()->rules, x, y, plan_.profile().get(), scratch);
  return decide_by_rule(code, decide_by_model(published, score, judgement));
}

void DecideStage::count(const std::vector<Slice>& slices) const {
  for (const auto& [task, first, count] : slices) {
    const auto& request = task->request;
    if (request.operation != Operation::kScore || request.learns) continue;
    for (std::size_t row = first; row < first + count; ++row) {
      counters_.aside.add(task->outcome.decision(row));
    }
  }
}

}  // namespace phsic
