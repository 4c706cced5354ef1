#include "daemon/serving/learned_tasks.h"

#include <fmt/format.h>

#include <utility>

namespace phsic {

void LearnedTasks::add(const std::shared_ptr<Task>& task, const std::string& error) {
  if (!error.empty()) {
    const RequestError failure("failed", error);
    completion_.learned(task, &failure);
  } else if (task->outcome.is_durable) {
    waiting_.push_back(task);
  } else {
    completion_.learned(task);
  }
}

void LearnedTasks::flush() {
  if (journal_ == nullptr) return;
  journal_->flush();
  if (waiting_.empty()) return;
  journal_->when_kept([this, tasks = std::exchange(waiting_, {})](const std::string& problem) {
    if (problem.empty()) {
      for (const auto& task : tasks) completion_.learned(task);
      return;
    }
    const RequestError failure(
        "not_durable",
        fmt::format("the pairs were learned, but may be lost when the daemon ends: {}", problem));
    for (const auto& task : tasks) completion_.learned(task, &failure);
  });
}

}  // namespace phsic
