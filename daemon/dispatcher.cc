#include "daemon/dispatcher.h"

#include <fmt/format.h>

#include <exception>
#include <utility>

#include "engine/reason.h"

namespace phsic {
namespace {

// Requests that come before the streams are there.
constexpr std::size_t kMostEarly = 1024;
constexpr std::size_t kMostEarlyBytes = 64U << 20U;

bool is_of_daemon(Operation operation) {
  return operation == Operation::kPing || operation == Operation::kStats ||
         operation == Operation::kStreams;
}

constexpr const char* kOverloaded = "overloaded";
constexpr const char* kShuttingDown = "shutting_down";

RequestError ending() { return {kShuttingDown, "the daemon is about to end"}; }

// Whether the task was turned away before any lane worked on it.
bool is_turned_away(const Task& task) {
  const auto& error = task.outcome.error;
  return error && (error->code() == kOverloaded || error->code() == kShuttingDown);
}

}  // namespace

void Dispatcher::serve(const std::shared_ptr<Task>& task) {
  const bool is_ping = task->request.operation == Operation::kPing;
  if (phase_ == Phase::kStarting && !is_ping) {
    keep_early(task);
  } else if (phase_ == Phase::kEnding && registry_.all().empty() && !is_ping) {
    // The start was broken off: no stream is there, and none is unknown.
    refuse(task, ending());
  } else {
    serve_now(task);
  }
}

void Dispatcher::serve_now(const std::shared_ptr<Task>& task) {
  if (!is_of_daemon(task->request.operation)) {
    hand_over(task);
    return;
  }
  answer_(task->request, task->outcome);
  task->caller->done(task);
}

void Dispatcher::hand_over(const std::shared_ptr<Task>& task) {
  auto& lane = registry_.find(task->request.stream).lane();
  if (phase_ == Phase::kEnding) {
    refuse(task, ending());
  } else if (!lane.offer(task)) {
    refuse(task, {kOverloaded,
                  fmt::format("stream {} has too much to do, try again later", lane.name())});
  }
}

void Dispatcher::refuse(const std::shared_ptr<Task>& task, const RequestError& error) {
  task->outcome.error = error;
  task->caller->done(task);
}

// A request that came before there is anything to serve it with.
void Dispatcher::keep_early(const std::shared_ptr<Task>& task) {
  const auto bytes = task->byte_count();
  if (early_.size() >= kMostEarly || early_bytes_ + bytes > kMostEarlyBytes) {
    throw RequestError(kOverloaded, "the daemon has not started yet, try again later");
  }
  early_bytes_ += bytes;
  early_.push_back(task);
}

void Dispatcher::begin_serving() {
  phase_ = Phase::kServing;
  for (const auto& task : std::exchange(early_, {})) {
    try {
      serve_now(task);
    } catch (const RequestError& problem) {
      refuse(task, problem);
    } catch (const std::exception& problem) {
      refuse(task, {"failed", reason(problem)});
    }
  }
}

void Dispatcher::stop_serving() {
  phase_ = Phase::kEnding;
  for (const auto& task : std::exchange(early_, {})) refuse(task, ending());
}

bool Dispatcher::take_in(const std::shared_ptr<Task>& task) {
  return registry_.find(task->request.stream).lane().offer(task);
}

void Dispatcher::take_in_at_last(const std::shared_ptr<Task>& task) {
  registry_.find(task->request.stream).lane().admit(task);
}

void Dispatcher::note_answer(const Task& task) {
  if (is_of_daemon(task.request.operation) || phase_ == Phase::kStarting || is_turned_away(task)) {
    return;
  }
  const auto& streams = registry_.all();
  if (task.request.stream.empty() ? streams.size() == 1 : streams.contains(task.request.stream)) {
    registry_.find(task.request.stream).note_answer(task);
  }
}

}  // namespace phsic
