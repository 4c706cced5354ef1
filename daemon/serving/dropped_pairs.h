// Remembers the pairs of a stream that were dropped last, with their numbers as they were then, so
// that whoever is told of one can ask about it. Bounded in number and in bytes; no part of the
// state. Any thread.
#pragma once

#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <string_view>

#include "daemon/serving/task.h"
#include "wire/dropped_pair.h"

namespace phsic {

class DroppedPairs {
 public:
  static constexpr std::size_t kMostPairs = 1024;
  static constexpr std::size_t kMostBytes = 2U << 20U;
  static constexpr std::size_t kLongestText = 1000;  // bytes; the rest is cut off

  // Remembers the pairs of a task that were dropped and have an id. REQUIRES: all is decided. May
  // throw a std::bad_alloc.
  void add(const Task& task);
  // The newest of that id, as it was written: JSON. A text of digits finds a number, too.
  [[nodiscard]] std::optional<DroppedPair> find(std::string_view id) const;

 private:
  void add(DroppedPair pair);

  mutable std::mutex mutex_;  // guards the two below
  std::deque<DroppedPair> pairs_;
  std::size_t bytes_ = 0;
};

}  // namespace phsic
