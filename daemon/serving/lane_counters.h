// What a lane counts, in all its threads.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <string>

#include "daemon/serving/decision_tally.h"
#include "decide/decision_memory.h"

namespace phsic {

struct LaneCounters {
  // These go on after a restart.
  std::atomic<std::uint64_t> scored{0};
  std::atomic<std::uint64_t> ranked{0};
  std::atomic<std::uint64_t> problems{0};
  std::atomic<std::uint64_t> refused{0};  // pairs not learned
  std::atomic<std::uint64_t> refreshes{0};
  std::atomic<std::uint64_t> drifts{0};
  std::atomic<std::uint64_t> duplicates{0};
  std::atomic<std::uint64_t> failed{0};
  std::atomic<std::uint64_t> overloaded{0};  // requests refused
  std::atomic<std::uint64_t> ahead{0};       // times too far ahead

  // Decisions about pairs that taught, or were to teach. The journal has these, so that
  // DecisionMemory (decision_keeper.h) counts them again after a restart.
  DecisionTally taught;
  std::atomic<std::uint64_t> rejected{0};  // of them: not learned
  // Decisions about all other pairs. They go on after a restart like the counters above.
  DecisionTally aside;

  // These are copies of what the stream and the drift alarm know, for any thread.
  std::atomic<std::uint64_t> learned{0};
  std::atomic<std::uint64_t> clipped{0};        // vectors
  std::atomic<std::uint64_t> until_refresh{0};  // UINT64_MAX: there are no models
  std::atomic<double> drift_p_value{1};

  [[nodiscard]] std::map<std::string, std::uint64_t> kept() const;
  void restore(const std::map<std::string, std::uint64_t>& kept);
  void restore(const DecisionMemory::Counts& counts);
  // By name, of all decisions.
  [[nodiscard]] std::map<std::string, std::uint64_t> reasons() const;
};

}  // namespace phsic
