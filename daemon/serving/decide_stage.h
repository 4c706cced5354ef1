// Decides about pairs when they are scored, before they go on to be learned: which are flagged.
//
// Any number of threads, on different rows.
#pragma once

#include <atomic>
#include <vector>

#include "daemon/serving/lane_counters.h"
#include "daemon/serving/task.h"

namespace phsic {

class DecideStage {
 public:
  // Pairs are flagged from this p-value on; 0: none.
  DecideStage(double flag_p_value, LaneCounters& counters)
      : flag_p_value_(flag_p_value), counters_(counters) {}

  void set_flag_p_value(double value) { flag_p_value_ = value; }

  // Decides about the rows of each slice. REQUIRES: they are scored, as far as they can be.
  void decide(const std::vector<Slice>& slices);

 private:
  std::atomic<double> flag_p_value_;
  LaneCounters& counters_;
};

}  // namespace phsic
