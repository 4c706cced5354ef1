// Watches the scores of new pairs of a stream for drift. Any thread.
#pragma once

#include <cstdint>
#include <mutex>
#include <span>

#include "core/drift.h"
#include "daemon/serving/lane_counters.h"
#include "daemon/serving/reporter.h"
#include "engine/batch.h"
#include "state/snapshot.h"

namespace phsic {

class DriftWatch {
 public:
  // Goes on where the daemon ended before.
  DriftWatch(const ServingState& serving, LaneCounters& counters, Reporter& reporter);

  // The scores of pairs that were not learned yet, by this model.
  void add(std::span<const double> scores, const PublishedModel& published);
  // Copies what has to go on after a restart.
  void save(ServingState& serving);

 private:
  LaneCounters& counters_;
  Reporter& reporter_;
  std::mutex mutex_;  // guards the two below
  DriftAlarm alarm_;
  std::uint64_t model_ = 0;  // whose scores it watches
};

}  // namespace phsic
