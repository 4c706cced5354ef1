#include "cli/session/duplicate_watch.h"

#include <cmath>

namespace phsic {

void DuplicateWatch::look(const TextPairs& pairs, PairResults& results) {
  if (recent_.capacity() == 0) return;
  for (std::size_t i = 0; i < results.decisions.size(); ++i) {
    auto& decision = results.decisions[i];
    if (is_rejection(decision.reason) || std::isnan(results.scores[i])) continue;
    const auto key = key_of(pairs.x[i], pairs.y[i], scratch_);
    if (const auto found = recent_.find(key); found != reasons::kNone) {
      decision = {Verdict::kDrop, found};
    } else {
      recent_.add(key);
    }
  }
}

}  // namespace phsic
