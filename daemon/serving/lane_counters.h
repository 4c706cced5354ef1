// What a lane counts, in all its threads.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <string>

namespace phsic {

struct LaneCounters {
  // These go on after a restart.
  std::atomic<std::uint64_t> scored{0};
  std::atomic<std::uint64_t> ranked{0};
  std::atomic<std::uint64_t> flagged{0};
  std::atomic<std::uint64_t> problems{0};
  std::atomic<std::uint64_t> refused{0};  // pairs not learned
  std::atomic<std::uint64_t> refreshes{0};
  std::atomic<std::uint64_t> drifts{0};
  std::atomic<std::uint64_t> duplicates{0};
  std::atomic<std::uint64_t> failed{0};
  std::atomic<std::uint64_t> overloaded{0};  // requests refused
  std::atomic<std::uint64_t> ahead{0};       // times too far ahead

  // These are copies of what the stream and the drift alarm know, for any thread.
  std::atomic<std::uint64_t> learned{0};
  std::atomic<std::uint64_t> clipped{0};        // vectors
  std::atomic<std::uint64_t> until_refresh{0};  // UINT64_MAX: there are no models
  std::atomic<double> drift_p_value{1};

  [[nodiscard]] std::map<std::string, std::uint64_t> kept() const;
  void restore(const std::map<std::string, std::uint64_t>& kept);
};

}  // namespace phsic
