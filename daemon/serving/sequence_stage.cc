#include "daemon/serving/sequence_stage.h"

#include <algorithm>
#include <iterator>

#include "engine/reason.h"

namespace phsic {

void SequenceStage::hand_in(LearnBlocks& block) {
  next_.charge(block.front());
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
    pass_on(first);
    lock.lock();
    ++next_ticket_;
  }
  is_passing_on_ = false;
}

void SequenceStage::pass_on(LearnBlocks& block) {
  auto& first = block.front();
  try {
    find_new(first);
  } catch (const std::exception& problem) {
    refuse(first, reason(problem));
  }
  // The learner may be done with the block before its tasks are told.
  parts_.swap(first.parts);
  if (first.size() > 0 || !first.markers.empty()) {
    next_.push(block);
  } else {
    next_.give_back(block);
  }
  for (const auto& part : parts_) completion_.sequenced(part.task, part.taken);
  parts_.clear();
}

// Nothing has changed if it throws.
void SequenceStage::find_new(LearnBlock& block) {
  block.is_duplicate.assign(block.size(), false);
  seen_.reserve(block.size());
  std::size_t row = 0;
  for (const auto& part : block.parts) {
    std::size_t duplicates = 0;
    const auto rows = part.end - row;
    for (; row < part.end; ++row) {
      if (block.ids[row] == kNoId || seen_.add(block.ids[row])) continue;
      block.is_duplicate[row] = true;
      ++duplicates;
    }
    part.task->learned += rows - duplicates;
    part.task->duplicates += duplicates;
    counters_.duplicates += duplicates;
    counters_.refused += part.refused;
  }
}

// There is no memory: nothing of the block is learned. Who waits for the learner still does.
void SequenceStage::refuse(LearnBlock& block, const char* message) {
  block.is_refused = true;
  for (const auto& part : block.parts) completion_.fail_to_learn(*part.task, message);
}

}  // namespace phsic
