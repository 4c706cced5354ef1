// How long answers took: quantiles of the last minute, in constant memory.
//
// Counts in buckets that grow by an eighth; two half-minutes are kept, the older one whole. One
// thread.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace phsic {

class Latency {
 public:
  using Clock = std::chrono::steady_clock;

  void add(Clock::duration took, Clock::time_point now);

  // Both are of the last half-minute to minute; 0 when nothing was added in it.
  [[nodiscard]] double quantile(double share, Clock::time_point now);
  [[nodiscard]] double longest(Clock::time_point now);

 private:
  static constexpr std::size_t kBuckets = 240;
  struct Period {
    std::array<std::uint64_t, kBuckets> counts{};
    std::uint64_t total = 0;
    double longest = 0;
  };

  void turn(Clock::time_point now);

  std::array<Period, 2> periods_;  // the present one first
  Clock::time_point began_;
};

}  // namespace phsic
