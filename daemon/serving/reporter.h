// Tells the lane's listener what the lane's stages have to tell. Any thread.
#pragma once

#include <atomic>
#include <chrono>
#include <string_view>
#include <utility>

#include "daemon/serving/lane_listener.h"

namespace phsic {

class Reporter {
 public:
  explicit Reporter(LaneListener& listener);

  void tell(StreamEvent event) { listener_.happened(std::move(event)); }
  // Something has failed. A broken encoder fails at every pair: told once a second at most, and
  // not at all without memory for it.
  void tell_failure(std::string_view message);
  void tell_scored(const Task& task) { listener_.scored(task); }
  void tell_closed() { listener_.closed(); }

 private:
  using Clock = std::chrono::steady_clock;

  LaneListener& listener_;
  std::atomic<Clock::rep> last_failure_;  // when one was last told
};

}  // namespace phsic
