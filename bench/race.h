// Two ways to do the same work, timed in turns, so that whatever slows the machine for a while
// slows both. The shortest time of each is what the machine can do.
#pragma once

#include <benchmark/benchmark.h>

#include <algorithm>
#include <ctime>
#include <limits>

namespace phsic::bench {

inline constexpr int kRuns = 20;

// Of this thread on the processor, not on the wall: other programs that take their turns on the
// same core do not count.
[[nodiscard]] inline double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

template <class Work>
[[nodiscard]] double seconds(Work&& work) {
  const double start = processor_seconds();
  work();
  benchmark::ClobberMemory();
  return processor_seconds() - start;
}

struct Times {
  double ours = std::numeric_limits<double>::infinity();
  double bare = std::numeric_limits<double>::infinity();

  // 1: as fast as the bare operation. Higher is better.
  [[nodiscard]] double ratio() const { return bare / ours; }
};

// Each timed run follows an untimed one of its own, so that both sides begin with their operands
// where they left them and not where the other did.
// Where the bare operation can be written in several ways, each gets its turns and the fastest
// counts.
template <class Ours, class... Bare>
[[nodiscard]] Times race(int runs, Ours&& ours, Bare&&... bare) {
  Times best;
  const auto hot_seconds = [](auto& work) {
    work();
    return seconds(work);
  };
  for (int run = 0; run < runs; ++run) {
    best.ours = std::min(best.ours, hot_seconds(ours));
    ((best.bare = std::min(best.bare, hot_seconds(bare))), ...);
  }
  return best;
}

}  // namespace phsic::bench
