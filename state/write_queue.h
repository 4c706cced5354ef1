// The queue before the state writer's thread.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "state/kept_streams.h"

namespace phsic {

// Something to write, or somebody to tell when everything before it is on the disk.
struct WriteItem {
  enum class Kind : std::uint8_t { kOpen, kEntry, kTell, kSnapshot, kFeed, kWithdraw };
  // Called with an empty text when the item is on the disk, otherwise with the reason why not.
  using Told = std::function<void(const std::string& problem)>;

  Kind kind = Kind::kEntry;
  KeptStream* stream = nullptr;  // null for kFeed
  StateMark mark;                // for kFeed its number is the last one reserved
  std::uint64_t pairs = 0;       // in an entry
  std::string bytes;             // the topic for kFeed
  Told told;
};

class WriteQueue {
 public:
  using Clock = std::chrono::steady_clock;

  // The first item waits `delay` for others that are taken with it.
  explicit WriteQueue(std::chrono::nanoseconds delay) : delay_(delay) {}

  // Any thread. An entry waits while the queue is full.
  void add(WriteItem item);
  // Any thread. What was added is still taken.
  void close();

  // The state writer's thread. Takes all that waits; sleeps before while there is nothing, at most
  // until `until`. A busy taker has work of its own, and does not sleep. False: the queue is
  // closed, nothing was taken, and the taker is not busy.
  [[nodiscard]] bool take(std::vector<WriteItem>& items, std::optional<Clock::time_point> until,
                          bool is_busy);

 private:
  const std::chrono::nanoseconds delay_;
  std::mutex mutex_;  // guards everything below
  std::condition_variable filled_;
  std::condition_variable emptied_;
  std::vector<WriteItem> items_;
  std::size_t bytes_ = 0;
  std::optional<Clock::time_point> oldest_;  // when the first item came
  bool closed_ = false;
};

}  // namespace phsic
