// When the pairs of a stream arrived, how they fade, and which bucket of a window each belongs to.
//
// Time is counted in the unit in which the stream forgets: in seconds, or in pairs, by their
// numbers. The clock knows the times of the recent pairs, oldest first: those that are not in the
// moments yet. It only goes forward, and only when a pair arrives. A value; one thread at a time
// may use one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/stream_config.h"

namespace phsic {

class WindowClock {
 public:
  // What the clock has seen, as it is saved.
  struct Reading {
    std::uint64_t arrived = 0;  // pairs: the number of the next one
    double latest_time = 0;     // seconds
    bool has_time = false;      // false: no pair has ever arrived
    std::vector<double> times;  // of the recent pairs, seconds, never descending
  };

  explicit WindowClock(const Forgetting& forgetting) : forgetting_(forgetting) {}
  WindowClock(const Forgetting& forgetting, Reading reading);

  [[nodiscard]] const Reading& reading() const { return reading_; }
  // The number that the next pair gets.
  [[nodiscard]] std::uint64_t next_number() const { return reading_.arrived; }
  [[nodiscard]] double latest_time() const { return reading_.latest_time; }

  // A pair arrives, and is recent. A time before the latest one counts as the latest.
  void arrive(double time);
  // Removes the `count` oldest pairs from the recent ones. REQUIRES: count <= recent().
  void drop_oldest(std::size_t count);
  // Takes the later of both latest times. The other's pairs get no numbers here.
  void catch_up(const WindowClock& other);

  // How many pairs are recent.
  [[nodiscard]] std::size_t recent() const { return reading_.times.size(); }
  // How many of them arrived at this time, in seconds, or later.
  [[nodiscard]] std::size_t recent_since(double time) const;
  // How many of them have left the window while they are still recent.
  [[nodiscard]] std::size_t recent_past() const;
  // The number of the recent pair with this index.
  [[nodiscard]] std::uint64_t number(std::size_t recent_index) const {
    return reading_.arrived - reading_.times.size() + recent_index;
  }
  // When it arrived, in the unit of forgetting.
  [[nodiscard]] double arrival(std::size_t recent_index) const;
  // Its weight at a later (or earlier) time is 2 to this power.
  [[nodiscard]] double fading(std::size_t recent_index, double now) const;
  // The logarithm of what a pair arriving at `time` weighs compared with one at time 0.
  [[nodiscard]] double log_fading(double time) const;

  // How many buckets the window has; in pairs, no more than it has blocks. 1 without a window.
  [[nodiscard]] std::size_t bucket_count() const;
  // The bucket of a pair that arrived at this time. In pairs, a bucket is a whole number of blocks.
  [[nodiscard]] std::int64_t bucket_at(double time) const;
  // The bucket of the newest pair. The window is counted back from it.
  [[nodiscard]] std::int64_t newest_bucket() const;
  // The number of the newest pair; -1 before the first.
  [[nodiscard]] double newest_number() const { return static_cast<double>(reading_.arrived) - 1; }
  // Has this bucket left a window whose newest one is `newest`?
  [[nodiscard]] bool is_before_window(std::int64_t bucket, std::int64_t newest) const {
    return bucket <= newest - static_cast<std::int64_t>(bucket_count());
  }
  // Has this bucket left the window by now? Never without one.
  [[nodiscard]] bool is_past(std::int64_t bucket) const;

 private:
  Forgetting forgetting_;
  Reading reading_;
};

}  // namespace phsic
