// A listener that keeps all events of a lane. Any thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "daemon/serving/lane_listener.h"
#include "wire/feed_writer.h"

namespace phsic::test {

class FakeListener : public LaneListener {
 public:
  void scored(const Task& task) override {
    if (when_scored) when_scored(task);
    ++scored_;
  }
  void happened(StreamEvent event) override {
    const std::lock_guard lock(mutex_);
    events_.push_back(std::move(event));
  }
  void closed() override {
    is_closed_ = true;
    is_closed_.notify_all();
  }

  // May throw.
  std::function<void(const Task& task)> when_scored;

  [[nodiscard]] std::size_t scored() const { return scored_; }
  // All events, as JSON without opening braces.
  [[nodiscard]] std::string events() const {
    const std::lock_guard lock(mutex_);
    std::string all;
    for (const auto& event : events_) all += event_json(event);
    return all;
  }
  template <class Event>
  [[nodiscard]] std::vector<Event> events_of() const {
    const std::lock_guard lock(mutex_);
    std::vector<Event> found;
    for (const auto& event : events_) {
      if (const auto* one = std::get_if<Event>(&event)) found.push_back(*one);
    }
    return found;
  }
  void wait_until_closed() const { is_closed_.wait(false); }

 private:
  std::atomic<std::size_t> scored_{0};
  std::atomic<bool> is_closed_{false};
  mutable std::mutex mutex_;  // guards events_
  std::vector<StreamEvent> events_;
};

}  // namespace phsic::test
