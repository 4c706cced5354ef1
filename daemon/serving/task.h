// A request on its way through a lane: what is asked, what has come of it, and who is told.
//
// The loop's thread makes it, a lane's threads work on it one after the other (workers on different
// rows at once), and its caller is told when it is done.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "daemon/serving/caller.h"
#include "wire/outcome.h"
#include "wire/request.h"

namespace phsic {

struct Task {
  using Clock = std::chrono::steady_clock;

  Task(Request asked, std::shared_ptr<Caller> by)
      : request(std::move(asked)), caller(std::move(by)), arrived(Clock::now()) {}

  Request request;  // does not change while it is in the lane, but for what nobody needs any more
  const std::shared_ptr<Caller> caller;
  const Clock::time_point arrived;

  // Workers write to rows of their own; problems, error and model under `mutex`.
  Outcome outcome;
  // What went wrong after scoring, or meanwhile: the outcome's error when the task is done.
  std::optional<RequestError> learn_error;
  std::mutex mutex;

  // The lane's (see completion.h).
  bool waits_for_learner = false;           // done when the learner, or the disk, has come so far
  std::atomic<bool> is_hopeless{false};     // there was not even memory for the error
  std::atomic<std::size_t> unscored{0};     // rows
  std::atomic<std::size_t> unsequenced{0};  // rows
  std::atomic<std::size_t> work_left{0};    // to be scored, to be put in order
  std::atomic<std::size_t> parts_left{0};   // that work, and what it waits for
  std::atomic<std::size_t> learned{0};
  std::atomic<std::size_t> duplicates{0};
  std::atomic<std::size_t> rejected{0};
  std::atomic<std::uint64_t> charged{0};  // bytes in the lane's backlog until it is done

  // How many bytes it takes while it waits, with room for its scores and decisions.
  [[nodiscard]] std::size_t byte_count() const {
    return sizeof(Task) + request.pairs.byte_count() +
           (request.scores ? 3 * sizeof(double) * request.pairs.size() : 0) +
           (request.is_decided() ? 2 * request.pairs.size() : 0);
  }
};

// Some rows of a task.
struct Slice {
  std::shared_ptr<Task> task;
  std::size_t first = 0;
  std::size_t count = 0;

  // True for the last rows of the task, and for an order, which has none.
  [[nodiscard]] bool is_last() const { return first + count == task->request.pairs.size(); }
};

}  // namespace phsic
