#include "daemon/serving/completion.h"

#include <algorithm>
#include <new>
#include <utility>
#include <vector>

#include "engine/reason.h"

namespace phsic {
namespace {

// A task without rows is scored and put in order as one.
std::size_t rows_of(std::size_t count) { return std::max<std::size_t>(1, count); }

// There is no memory for the answer: frees what it was to hold, and leaves a short error.
void give_up(Outcome& outcome) {
  for (auto* values : {&outcome.score, &outcome.percentile, &outcome.p_value, &outcome.quality}) {
    std::vector<double>().swap(*values);
  }
  std::vector<PairProblem>().swap(outcome.problems);
  std::vector<std::uint8_t>().swap(outcome.verdict);
  std::vector<ReasonCode>().swap(outcome.reason);
  outcome.explanation.reset();
  outcome.error.emplace("failed", reason(std::bad_alloc()));
}

}  // namespace

void Completion::begin(Task& task) {
  const auto& request = task.request;
  const auto rows = rows_of(request.pairs.size());
  task.unscored = rows;
  task.unsequenced = rows;
  task.work_left = request.learns ? 2 : 1;
  task.parts_left = task.waits_for_learner ? 2 : 1;
}

void Completion::scored(const Slice& slice) {
  const auto rows = rows_of(slice.count);
  if (slice.task->unscored.fetch_sub(rows) == rows) end_work(slice.task);
}

void Completion::sequenced(const std::shared_ptr<Task>& task, std::size_t rows) {
  rows = rows_of(rows);
  if (task->unsequenced.fetch_sub(rows) == rows) end_work(task);
}

void Completion::learned(const std::shared_ptr<Task>& task, const RequestError* error) {
  if (error != nullptr) {
    const std::lock_guard lock(task->mutex);
    try {
      if (!task->learn_error) task->learn_error = *error;
    } catch (const std::bad_alloc&) {
      task->is_hopeless = true;
    }
  }
  end_part(task);
}

void Completion::fail_to_learn(Task& task, const char* message) {
  {
    const std::lock_guard lock(task.mutex);
    if (!task.outcome.error && !task.learn_error && !task.is_hopeless) ++counters_.failed;
    try {
      task.learn_error.emplace("failed", message);
    } catch (const std::bad_alloc&) {
      task.is_hopeless = true;
    }
  }
  reporter_.tell_failure(message);
}

void Completion::fail(const Slice& slice, const char* message) {
  auto& task = *slice.task;
  auto& outcome = task.outcome;
  {
    const std::lock_guard lock(task.mutex);
    if (!outcome.error && !task.learn_error && !task.is_hopeless) ++counters_.failed;
    if (outcome.published == nullptr) outcome.published = stream_.published();
    try {
      outcome.error.emplace("failed", message);
      for (std::size_t i = 0; i < slice.count; ++i) {
        outcome.problems.push_back({slice.first + i, message});
      }
    } catch (const std::bad_alloc&) {
      task.is_hopeless = true;
    }
  }
  reporter_.tell_failure(message);
}

void Completion::tell(Task& task) {
  try {
    // Workers have added them in any order.
    auto& problems = task.outcome.problems;
    std::stable_sort(problems.begin(), problems.end(),
                     [](const auto& a, const auto& b) { return a.row < b.row; });
    // Pairs that the encoder failed on, too: the feed has a message for each.
    if (task.request.operation == Operation::kScore) {
      dropped_.add(task);
      reporter_.tell_scored(task);
    }
    if (!task.is_hopeless) task.caller->prepare(task);
  } catch (const std::bad_alloc&) {
    task.is_hopeless = true;
  }
}

// The pairs go before this part ends: afterwards another thread may be telling the caller.
void Completion::end_work(const std::shared_ptr<Task>& task) {
  if (task->work_left.fetch_sub(1) != 1) return;
  tell(*task);
  if (task->waits_for_learner) let_go_of_pairs(*task);
  end_part(task);
}

void Completion::end_part(const std::shared_ptr<Task>& task) {
  if (task->parts_left.fetch_sub(1) == 1) finish(task);
}

// What is to be learned has been copied, and what is to be told of it encoded. The scores stay, and
// are charged until the task is done: a slow disk must not let answers pile up without limit.
// REQUIRES: the task cannot be done meanwhile.
void Completion::let_go_of_pairs(Task& task) {
  const auto bytes = task.request.pairs.byte_count();
  task.request.pairs = {};
  if (task.charged < bytes) return;  // it was not charged
  task.charged -= bytes;
  backlog_.remove({0, bytes});
}

void Completion::finish(const std::shared_ptr<Task>& task) {
  if (!task->outcome.error) task->outcome.error = std::move(task->learn_error);
  if (!task->is_hopeless) {
    try {
      fill_in(*task);
    } catch (const std::bad_alloc&) {
      task->is_hopeless = true;
    }
  }
  if (task->is_hopeless) give_up(task->outcome);
  if (const auto charged = task->charged.exchange(0); charged > 0) backlog_.remove({0, charged});
  task->caller->done(task);
  sources_.tell();
}

void Completion::fill_in(Task& task) const {
  auto& outcome = task.outcome;
  outcome.learned = task.learned;
  outcome.duplicates = task.duplicates;
  outcome.not_learned = task.rejected;
  if (task.request.learns) outcome.until_refresh = until_refresh();
  if (task.request.operation == Operation::kRefresh) {
    outcome.published = stream_.published();
    outcome.pairs = counters_.learned;
  }
}

// Until the next model; none where there are no models.
std::optional<std::size_t> Completion::until_refresh() const {
  const auto left = counters_.until_refresh.load();
  if (left == UINT64_MAX) return std::nullopt;
  const auto unlearned = backlog_.waiting().pairs;
  return left > unlearned ? left - unlearned : 1;
}

}  // namespace phsic
