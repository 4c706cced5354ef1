#include "daemon/serving/decide_stage.h"

#include "decide/flag.h"

namespace phsic {

void DecideStage::decide(const std::vector<Slice>& slices) {
  const double from = flag_p_value_;
  for (const auto& [task, first, count] : slices) {
    if (task->request.operation != Operation::kScore) continue;
    auto& outcome = task->outcome;
    for (std::size_t row = first; row < first + count; ++row) {
      const bool flagged = is_flagged(outcome.p_value[row], from);
      outcome.flagged[row] = flagged ? 1 : 0;
      if (flagged) ++counters_.flagged;
    }
  }
}

}  // namespace phsic
