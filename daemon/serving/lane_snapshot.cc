// A lane's snapshots: when, of what, and the last one.
#include <fmt/format.h>

#include <future>
#include <memory>
#include <new>
#include <utility>

#include "daemon/serving/lane.h"
#include "engine/reason.h"

namespace phsic {

void Lane::snapshot_if_due() {
  if (journal_ == nullptr) {
    const RequestError none("not_durable",
                            "the daemon keeps no state, expected `state` in its configuration");
    for (const auto& job : std::exchange(to_snapshot_, {})) answer(job, &none);
    return;
  }
  // The state of a stream has no place for a model that is being built.
  if (refresh_ != nullptr || snapshotting_) return;
  if (journal_->is_behind()) {
    // Entries that come after it must not reach the state writer before it does.
    take_snapshot(true);
  } else if (!to_snapshot_.empty() || journal_->is_due()) {
    take_snapshot(false);
  }
}

void Lane::take_snapshot(bool at_once) {
  snapshotting_ = true;
  auto draft = std::make_shared<StreamJournal::Draft>();
  std::shared_ptr<const StreamState> state;
  auto learning = note_learned();
  try {
    state = begin_snapshot(*draft);
    learning = {};
  } catch (const std::bad_alloc& problem) {
    learning = {};
    end_snapshot(std::exchange(to_snapshot_, {}), reason(problem), 0, 0);
    return;
  }
  auto write = [this, draft, state = std::move(state), jobs = std::exchange(to_snapshot_, {})] {
    write_snapshot(*draft, *state, jobs);
  };
  if (at_once) {
    write();
  } else {
    in_background(std::move(write));
  }
}

// Brings the journal to where the stream is, which goes no further while the lock is held. Nothing
// of this can be taken back: without memory for it the daemon ends.
std::unique_lock<std::mutex> Lane::note_learned() {
  std::unique_lock<std::mutex> learning;
  if (stream_->counter() != nullptr) {
    learning = std::unique_lock(one_by_one_);
    LearnQueue::Blocks blocks;
    learn_queue_.take_now(blocks);
    learn_blocks(blocks);
  }
  journal_->flush();
  return learning;
}

// Everything as it is at one place of the journal. REQUIRES: all that was learned is noted.
std::unique_ptr<const StreamState> Lane::begin_snapshot(StreamJournal::Draft& draft) {
  draft = journal_->begin_snapshot();
  for (const auto& [name, counter] : counters()) draft.serving.counters[name] = *counter;
  {
    const std::lock_guard lock(drift_mutex_);
    draft.serving.drift = drift_;
    draft.serving.drift_model = drift_model_;
  }
  return stream_->state();
}

// Any thread.
void Lane::write_snapshot(const StreamJournal::Draft& draft, const StreamState& state,
                          const std::vector<std::shared_ptr<Job>>& jobs) {
  try {
    journal_->write_snapshot(
        draft, state,
        [this, jobs](const std::string& problem, std::uint64_t pairs, std::uint64_t bytes) {
          end_snapshot(jobs, problem, pairs, bytes);
        });
  } catch (const std::exception& problem) {
    end_snapshot(jobs, reason(problem), 0, 0);
  }
}

// It is on the disk, or there is a problem. Any thread.
void Lane::end_snapshot(const std::vector<std::shared_ptr<Job>>& jobs, const std::string& problem,
                        std::uint64_t pairs, std::uint64_t bytes) {
  const RequestError failure("not_durable", fmt::format("there is no new snapshot: {}", problem));
  for (const auto& job : jobs) {
    job->snapshot_pairs = pairs;
    job->snapshot_bytes = bytes;
    answer(job, problem.empty() ? nullptr : &failure);
  }
  if (!problem.empty()) announce_failure(fmt::format("no snapshot was written: {}", problem));
  snapshotting_ = false;
  snapshotting_.notify_all();
  learn_queue_.wake();
}

// The last one, so that the next start has nothing to do over again.
void Lane::end_keeping() {
  if (journal_ == nullptr) {
    snapshot_if_due();
    return;
  }
  ask_state_writer();
  snapshotting_.wait(true);
  if (journal_->has_news() || !journal_->is_keeping() || !to_snapshot_.empty()) {
    take_snapshot(true);
    snapshotting_.wait(true);
  }
  // The state writer may not be out of the lane's functions yet. What comes after them tells that
  // it is.
  const auto out = std::make_shared<std::promise<void>>();
  journal_->when_kept([out](const std::string&) { out->set_value(); });
  out->get_future().wait();
}

}  // namespace phsic
