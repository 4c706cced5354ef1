// Who hears what happens in a lane.
#pragma once

#include "wire/event.h"

namespace phsic {

struct Task;

class LaneListener {
 public:
  LaneListener() = default;
  virtual ~LaneListener() = default;
  LaneListener(const LaneListener&) = delete;
  LaneListener& operator=(const LaneListener&) = delete;
  LaneListener(LaneListener&&) = delete;
  LaneListener& operator=(LaneListener&&) = delete;

  // Takes a task to the feed: its pairs are scored and decided about. Called before the task is
  // done, in the thread that calls Caller::prepare(). May throw a std::bad_alloc.
  virtual void scored(const Task& task) = 0;
  // Any thread, which must not be held up.
  virtual void happened(StreamEvent event) = 0;
  // Everything that was accepted is done, and the lane's threads end. Any thread.
  virtual void closed() = 0;
};

}  // namespace phsic
