#include "daemon/serving/sequence_stage.h"

#include <algorithm>
#include <iterator>

#include "engine/reason.h"

namespace phsic {
namespace {

// How many pairs of the block will not be learned.
std::size_t left_out(const LearnBlock& block) {
  if (block.is_refused) return block.size();
  const auto& all = block.is_duplicate;
  return static_cast<std::size_t>(std::count(all.begin(), all.end(), true));
}

}  // namespace

void SequenceStage::hand_in(LearnBlocks& block) {
  next_.charge(block.front());
  LearnBlock::Parts told;
  {
    std::unique_lock lock(mutex_);
    // Nearly always it is the last.
    auto place = waiting_.end();
    while (place != waiting_.begin() && std::prev(place)->ticket > block.front().ticket) --place;
    waiting_.splice(place, block);
    if (is_passing_on_) return;
    is_passing_on_ = true;
    while (!waiting_.empty() && waiting_.front().ticket == next_ticket_) {
      LearnBlocks first;
      first.splice(first.end(), waiting_, waiting_.begin());
      lock.unlock();
      // The learner may be done with the block before its tasks are told.
      pass_on(first, told);
      lock.lock();
      ++next_ticket_;
    }
    is_passing_on_ = false;
  }
  // Writing answers takes a while: another thread may pass on blocks meanwhile.
  for (const auto& part : told) completion_.sequenced(part.task, part.taken);
}

void SequenceStage::pass_on(LearnBlocks& block, LearnBlock::Parts& told) {
  auto& first = block.front();
  try {
    find_new(first);
  } catch (const std::exception& problem) {
    refuse(first, reason(problem));
  }
  // Pairs that are left out bring no model nearer: they leave the backlog now.
  next_.note_done(first, left_out(first));
  told.splice(told.end(), first.parts);
  if (first.size() > 0 || !first.rejected.empty() || !first.markers.empty()) {
    next_.push(block);
  } else {
    next_.give_back(block);
  }
}

// Nothing has changed if it throws.
void SequenceStage::find_new(LearnBlock& block) {
  block.is_duplicate.assign(block.size(), false);
  seen_.reserve(block.size());
  recent_.reserve(block.size());
  rejected_.clear();
  rejected_.reserve(block.rejected.size() + block.size());
  merged_ = 0;
  const auto policy = plan_.plan()->duplicates;
  std::size_t row = 0;
  for (const auto& part : block.parts) {
    const auto found = find_new(block, *part.task, row, part.end, policy);
    part.task->learned += part.end - row - found.known - found.rejected;
    part.task->duplicates += found.known;
    part.task->rejected += found.rejected + part.rejected;
    counters_.duplicates += found.known;
    counters_.rejected += found.rejected + part.rejected;
    counters_.refused += part.refused;
    row = part.end;
  }
  merge_rejected(block.size(), block);
  block.rejected.swap(rejected_);
}

SequenceStage::Found SequenceStage::find_new(LearnBlock& block, Task& task, std::size_t first,
                                             std::size_t last, DuplicatePolicy policy) {
  Found found;
  for (std::size_t row = first; row < last; ++row) {
    merge_rejected(row, block);
    auto& decision = block.decisions[row];
    const auto& id = block.ids[row];
    if (id != kNoId && seen_.contains(id)) {
      block.is_duplicate[row] = true;
      ++found.known;
      if (task.request.scores) counters_.aside.add(decision_of(decision));
      continue;
    }
    if (is_rejected(block, task, row, policy)) {
      block.is_duplicate[row] = true;
      ++found.rejected;
      rejected_.push_back({row, decision});
    } else {
      seen_.add(id);
      recent_.add(block.keys[row]);
    }
    counters_.taught.add(decision_of(decision));
  }
  return found;
}

// True if the row is a duplicate and not learned; where duplicates are dropped, decides so.
bool SequenceStage::is_rejected(LearnBlock& block, Task& task, std::size_t row,
                                DuplicatePolicy policy) {
  if (policy == DuplicatePolicy::kLearn) return false;
  const auto found = recent_.find(block.keys[row]);
  if (found == reasons::kNone) return false;
  if (policy == DuplicatePolicy::kDrop) {
    const Decision dropped{Verdict::kDrop, found};
    block.decisions[row] = code_of(dropped);
    task.outcome.decide(block.rows[row], dropped);
  }
  return true;
}

// Adds the pairs up to this place that broke a rule to rejected_.
void SequenceStage::merge_rejected(std::size_t place, const LearnBlock& block) {
  for (; merged_ < block.rejected.size() && block.rejected[merged_].place <= place; ++merged_) {
    rejected_.push_back(block.rejected[merged_]);
    counters_.taught.add(decision_of(rejected_.back().decision));
  }
}

// There is no memory: nothing of the block is learned. Who waits for the learner still does.
void SequenceStage::refuse(LearnBlock& block, const char* message) {
  block.is_refused = true;
  for (const auto& part : block.parts) completion_.fail_to_learn(*part.task, message);
}

}  // namespace phsic
