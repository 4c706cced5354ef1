// Duplicates among pairs that are scored without being learned again, as when a table is read a
// second time. One thread.
#pragma once

#include <string>

#include "cli/session/pair_results.h"
#include "decide/decide_spec.h"
#include "decide/recent_pairs.h"

namespace phsic {

class DuplicateWatch {
 public:
  explicit DuplicateWatch(const DecidePlan& plan)
      : recent_(plan.duplicates == DuplicatePolicy::kDrop ? plan.duplicate_window : 0) {}

  // Drops pairs that came not long ago, as they would be dropped if the others were learned. Pairs
  // that a rule rejects and those that cannot be scored are passed over.
  void look(const TextPairs& pairs, PairResults& results);

 private:
  RecentPairs recent_;
  std::string scratch_;
};

}  // namespace phsic
