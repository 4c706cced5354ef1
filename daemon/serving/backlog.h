// What a lane has accepted and is not done with, in pairs and bytes, against its limits.
//
// The loop's thread asks for room. Any thread adds and removes; whatever is added is removed once.
#pragma once

#include <atomic>
#include <cstdint>

#include "daemon/serving/amount.h"

namespace phsic {

class Backlog {
 public:
  explicit Backlog(Amount most) : most_pairs_(most.pairs), most_bytes_(most.bytes) {}

  void set_limits(Amount most) {
    most_pairs_ = most.pairs;
    most_bytes_ = most.bytes;
  }
  // Whether `more` fits. An amount larger than the limits fits when nothing waits.
  [[nodiscard]] bool has_room(Amount more) const {
    const auto fits = [](std::uint64_t waiting, std::uint64_t amount, std::uint64_t most) {
      return amount == 0 || waiting == 0 || waiting + amount <= most;
    };
    return fits(pairs_, more.pairs, most_pairs_) && fits(bytes_, more.bytes, most_bytes_);
  }
  void add(Amount more) {
    pairs_ += more.pairs;
    bytes_ += more.bytes;
  }
  void remove(Amount less) {
    pairs_ -= less.pairs;
    bytes_ -= less.bytes;
  }
  [[nodiscard]] Amount waiting() const { return {pairs_, bytes_}; }

 private:
  std::atomic<std::uint64_t> most_pairs_;
  std::atomic<std::uint64_t> most_bytes_;
  std::atomic<std::uint64_t> pairs_{0};
  std::atomic<std::uint64_t> bytes_{0};
};

}  // namespace phsic
