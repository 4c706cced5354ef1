// Sources that wait until a lane has room again.
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "daemon/serving/caller.h"

namespace phsic {

class WaitingSources {
 public:
  // From now on the source hears of room. To be called before looking for room, so that no room
  // made meanwhile is missed.
  void add(const std::shared_ptr<Caller>& source) {
    const std::lock_guard lock(mutex_);
    if (std::find(sources_.begin(), sources_.end(), source) == sources_.end()) {
      sources_.push_back(source);
    }
    is_awaited_ = true;
  }
  // The source has found room.
  void remove(const std::shared_ptr<Caller>& source) {
    const std::lock_guard lock(mutex_);
    std::erase(sources_, source);
    is_awaited_ = !sources_.empty();
  }
  // There may be room. Any thread; costs next to nothing where nobody waits.
  void tell() {
    if (!is_awaited_) return;
    std::vector<std::shared_ptr<Caller>> told;
    {
      const std::lock_guard lock(mutex_);
      told.swap(sources_);
      is_awaited_ = false;
    }
    for (const auto& source : told) source->has_room();
  }

 private:
  std::mutex mutex_;  // guards sources_
  std::vector<std::shared_ptr<Caller>> sources_;
  std::atomic<bool> is_awaited_{false};
};

}  // namespace phsic
