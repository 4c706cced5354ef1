#include "daemon/serving/snapshots.h"

#include <fmt/format.h>

#include <future>
#include <new>
#include <utility>

#include "daemon/serving/when_memory.h"
#include "engine/reason.h"

namespace phsic {

Snapshots::Snapshots(const StreamStorage& stream, StreamJournal* journal, Background& background,
                     DriftWatch& drift, const LaneCounters& counters,
                     const DecisionKeeper& decisions, Completion& completion, Reporter& reporter,
                     std::function<void()> wake)
    : stream_(stream),
      journal_(journal),
      background_(background),
      drift_(drift),
      counters_(counters),
      decisions_(decisions),
      completion_(completion),
      reporter_(reporter),
      wake_(std::move(wake)) {}

void Snapshots::take_if_due() {
  if (journal_ == nullptr) {
    const RequestError none("not_durable",
                            "the daemon keeps no state, expected `state` in its configuration");
    for (const auto& task : std::exchange(asked_, {})) completion_.learned(task, &none);
    return;
  }
  if (is_writing_) return;
  if (journal_->is_behind()) {
    // Entries that come after it must not reach the state writer before it does.
    take(true);
  } else if (!asked_.empty() || journal_->is_due()) {
    take(false);
  }
}

std::chrono::steady_clock::time_point Snapshots::next_look() const {
  // Whoever writes one wakes the learner afterwards.
  if (journal_ == nullptr || is_writing_) {
    return std::chrono::steady_clock::now() + std::chrono::hours(1);
  }
  return journal_->due_at();
}

// Everything as it is at one place of the journal.
void Snapshots::take(bool at_once) {
  is_writing_ = true;
  journal_->flush();
  std::shared_ptr<StreamJournal::Draft> draft;
  std::shared_ptr<const StreamState> state;
  try {
    draft = std::make_shared<StreamJournal::Draft>(journal_->begin_snapshot());
    draft->serving.counters = counters_.kept();
    drift_.save(draft->serving);
    decisions_.save(draft->serving.parts);
    state = stream_.state();
  } catch (const std::bad_alloc& problem) {
    end(std::exchange(asked_, {}), reason(problem), 0, 0);
    return;
  }
  const auto work = [this, draft, state = std::move(state), tasks = std::exchange(asked_, {})] {
    write(*draft, *state, tasks);
  };
  if (at_once) {
    work();
  } else {
    when_there_is_memory([&] { background_.add(work); });
  }
}

// Any thread.
void Snapshots::write(const StreamJournal::Draft& draft, const StreamState& state,
                      const Tasks& tasks) {
  try {
    journal_->write_snapshot(
        draft, state,
        [this, tasks](const std::string& problem, std::uint64_t pairs, std::uint64_t bytes) {
          end(tasks, problem, pairs, bytes);
        });
  } catch (const std::exception& problem) {
    end(tasks, reason(problem), 0, 0);
  }
}

// It is on the disk, or there is a problem. Any thread.
void Snapshots::end(const Tasks& tasks, const std::string& problem, std::uint64_t pairs,
                    std::uint64_t bytes) {
  const auto failure = when_there_is_memory([&] {
    return RequestError("not_durable", fmt::format("there is no new snapshot: {}", problem));
  });
  for (const auto& task : tasks) {
    task->outcome.pairs = pairs;
    task->outcome.snapshot_bytes = bytes;
    completion_.learned(task, problem.empty() ? nullptr : &failure);
  }
  if (!problem.empty()) {
    when_there_is_memory(
        [&] { reporter_.tell_failure(fmt::format("no snapshot was written: {}", problem)); });
  }
  is_writing_ = false;
  is_writing_.notify_all();
  wake_();
}

void Snapshots::finish() {
  if (journal_ == nullptr) {
    take_if_due();
    return;
  }
  is_writing_.wait(true);
  if (journal_->has_news() || !journal_->is_keeping() || !asked_.empty()) {
    take(true);
    is_writing_.wait(true);
  }
  // The state writer may not be out of the lane's functions yet. What comes after them tells that
  // it is.
  const auto out = std::make_shared<std::promise<void>>();
  journal_->when_kept([out](const std::string&) { out->set_value(); });
  out->get_future().wait();
}

}  // namespace phsic
