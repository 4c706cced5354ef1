#include "daemon/serving/count_stage.h"

#include <algorithm>
#include <limits>
#include <new>
#include <utility>

#include "daemon/serving/learn_block.h"
#include "decide/decision_memory.h"
#include "engine/reason.h"

namespace phsic {

CountStage::CountStage(LaneParts& parts, SeenIds seen, Snapshots& snapshots, LearnedTasks& tasks,
                       AnswerStage& answers)
    : ScoreStage(*parts.stream, parts.counters, parts.drift, parts.completion),
      parts_(parts),
      seen_(std::move(seen)),
      snapshots_(snapshots),
      tasks_(tasks),
      answers_(answers) {}

void CountStage::run(Amount most) {
  WorkerScratch scratch(most.pairs);
  while (parts_.queue.take(scratch.taken, most, snapshots_.next_look())) {
    parts_.decisions.follow_plan();
    parts_.decide.check(scratch.taken.slices, scratch.rules);
    score(scratch);
    parts_.decide.decide(scratch);
    hand_on(scratch);
    scratch.clear();
    snapshots_.take_if_due();
    parts_.sources.tell();
  }
  answers_.finish();
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
  const auto done = parts_.stream->counter()->score_and_learn(batch, times_.data());
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
        if (is_rejection(task->outcome.reason[i])) fate = Fate::kRejected;
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
  const auto& cut = group.batch.published->cut;
  std::size_t row = 0;
  for (const auto& [task, first, count] : group.slices) {
    for (std::size_t i = first; i < first + count && row < rows; ++i, ++row) {
      auto decision = task->outcome.reason.empty() ? Decision() : task->outcome.decision(i);
      if (task->request.scores) {
        decision = decide_by_rule(decision.reason, decide_by_score(group.batch.scores[row], cut));
      }
      note(*task, i, fates_[row], times_[row], decision);
    }
  }
}

void CountStage::note(Task& task, std::size_t i, Fate fate, double time, const Decision& decision) {
  auto& counters = parts_.counters;
  const auto& pairs = task.request.pairs;
  if (fate == Fate::kRejected || fate == Fate::kNew) {
    counters.taught.add(decision);
  } else if (fate != Fate::kAside && task.request.scores) {
    counters.aside.add(decision);
  }
  switch (fate) {
    case Fate::kAside: break;
    case Fate::kRefused: ++counters.refused; break;
    case Fate::kRejected:
      ++counters.rejected;
      ++task.rejected;
      parts_.decisions.rejected(code_of(decision));
      break;
    case Fate::kDuplicate:
      ++counters.duplicates;
      ++task.duplicates;
      break;
    case Fate::kNew: {
      const auto id = id_of(task.request, i);
      ++counters.learned;
      ++task.learned;
      seen_.add(id);
      parts_.decisions.learned(pairs.x[i], pairs.y[i], {}, time, id, code_of(decision));
      break;
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
    if (end > row) parts_.completion.fail(slice, reason(std::bad_alloc()));
  }
}

// What is counted goes to the disk, and its scores to be told.
void CountStage::hand_on(WorkerScratch& scratch) {
  for (const auto& slice : scratch.taken.slices) {
    const auto& task = slice.task;
    const auto& request = task->request;
    if (request.learns) {
      parts_.unlearned.remove({slice.count, 0});
      parts_.completion.sequenced(task, slice.count);
    }
    if (!task->waits_for_learner || !slice.is_last()) continue;
    if (request.operation == Operation::kSnapshot) {
      snapshots_.add(task);
    } else {
      tasks_.add(task);
    }
  }
  tasks_.flush();
  answers_.hand_over(scratch.taken.slices);
}

}  // namespace phsic
