#include "daemon/serving/decide_stage.h"

#include <new>

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
            phsic::broken_rule(plan->rules, pairs.x[row], pairs.y[row], profile.get(), scratch);
        if (code != reasons::kNone) outcome.decide(row, {Verdict::kDrop, code});
      } catch (const std::bad_alloc&) {
        // Without memory to look at it the pair is judged by its score alone.
      }
    }
  }
}

ReasonCode DecideStage::broken_rule(std::string_view x, std::string_view y,
                                    RuleScratch& scratch) const {
  return phsic::broken_rule(plan_.plan()->rules, x, y, plan_.profile().get(), scratch);
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
