#include "daemon/serving/count_stage.h"

#include <algorithm>
#include <limits>
#include <new>
#include <utility>

#include "daemon/serving/learn_block.h"
#include "engine/reason.h"

namespace phsic {

CountStage::CountStage(Stream& stream, SeenIds seen, StreamJournal* journal, FairQueue& queue,
                       Backlog& backlog, Snapshots& snapshots, DurableTasks& tasks,
                       LaneCounters& counters, DriftWatch& drift, Completion& completion,
                       WaitingSources& sources)
    : ScoreStage(stream, counters, drift, completion),
      stream_(stream),
      seen_(std::move(seen)),
      journal_(journal),
      queue_(queue),
      backlog_(backlog),
      snapshots_(snapshots),
      tasks_(tasks),
      counters_(counters),
      sources_(sources) {}

void CountStage::run(Amount most) {
  WorkerScratch scratch(most.pairs);
  while (queue_.take(scratch.taken, most, snapshots_.next_look())) {
    score(scratch);
    finish(scratch);
    scratch.taken.slices.clear();
    scratch.clear();
    snapshots_.take_if_due();
    sources_.tell();
  }
  snapshots_.finish();
}

// All that may fail for want of memory comes before anything is counted.
void CountStage::score_group(Group& group, WorkerScratch& /*scratch*/) {
  choose(group);
  auto& batch = group.batch;
  times_.clear();
  for (const auto& [task, first, count] : group.slices) {
    for (std::size_t i = first; i < first + count; ++i) {
      batch.usable[times_.size()] = fates_[times_.size()] == Fate::kNew;
      times_.push_back(time_of(task->request, i));
    }
  }
  seen_.reserve(batch.size());
  const auto done = stream_.counter()->score_and_learn(batch, times_.data());
  note(group, done);
  if (done < batch.size()) fail_from(done, group);
}

// Decides what becomes of each row.
void CountStage::choose(const Group& group) {
  ids_.clear();
  fates_.clear();
  for (const auto& [task, first, count] : group.slices) {
    for (std::size_t i = first; i < first + count; ++i) {
      auto fate = Fate::kAside;
      if (task->request.learns) {
        fate = group.batch.usable[fates_.size()] ? Fate::kNew : Fate::kRefused;
      }
      const auto id = fate == Fate::kNew ? id_of(task->request, i) : kNoId;
      if (id != kNoId && (seen_.contains(id) || !ids_.insert(id).second)) fate = Fate::kDuplicate;
      fates_.push_back(fate);
    }
  }
}

// The first so many rows have been counted. This cannot be taken back: without memory to note it
// down the daemon ends.
void CountStage::note(const Group& group, std::size_t rows) noexcept {
  std::size_t row = 0;
  for (const auto& [task, first, count] : group.slices) {
    for (std::size_t i = first; i < first + count && row < rows; ++i, ++row) {
      switch (fates_[row]) {
        case Fate::kAside: break;
        case Fate::kRefused: ++counters_.refused; break;
        case Fate::kDuplicate:
          ++counters_.duplicates;
          ++task->duplicates;
          break;
        case Fate::kNew: {
          const auto id = id_of(task->request, i);
          ++counters_.learned;
          ++task->learned;
          seen_.add(id);
          const auto& pairs = task->request.pairs;
          if (journal_ != nullptr) journal_->add(pairs.x[i], pairs.y[i], times_[row], id);
          break;
        }
      }
    }
  }
}

// There was no memory for this row of a group. Neither it nor any after it was scored or counted.
void CountStage::fail_from(std::size_t row, Group& group) {
  auto& scores = group.batch.scores;
  std::fill(scores.begin() + static_cast<std::ptrdiff_t>(std::min(row, scores.size())),
            scores.end(), std::numeric_limits<double>::quiet_NaN());
  std::size_t end = 0;
  for (const auto& slice : group.slices) {
    end += slice.count;
    if (end > row) completion_.fail(slice, reason(std::bad_alloc()));
  }
}

void CountStage::finish(const WorkerScratch& scratch) {
  for (const auto& slice : scratch.taken.slices) {
    const auto& task = slice.task;
    const auto& request = task->request;
    // Before the task is told of: it may be gone then.
    const bool is_marked = task->waits_for_learner && slice.is_last();
    if (request.learns) backlog_.remove({slice.count, 0});
    completion_.scored(slice);
    if (request.learns) completion_.sequenced(task, slice.count);
    if (!is_marked) continue;
    if (request.operation == Operation::kSnapshot) {
      snapshots_.add(task);
    } else {
      tasks_.add(task);
    }
  }
  tasks_.flush();
}

}  // namespace phsic
