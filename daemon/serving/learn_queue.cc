#include "daemon/serving/learn_queue.h"

#include <utility>

namespace phsic {
namespace {

// Memory that is kept for blocks to come.
constexpr std::size_t kMostSpare = 4;
constexpr std::size_t kLargestSpare = 2U << 20U;  // bytes

}  // namespace

LearnQueue::LearnQueue(std::size_t longest_text, Backlog& backlog)
    : longest_text_(longest_text), backlog_(backlog) {}

LearnBlocks LearnQueue::make_block() {
  LearnBlocks one;
  {
    const std::lock_guard lock(mutex_);
    if (!spare_.empty()) {
      one.splice(one.end(), spare_, spare_.begin());
      return one;
    }
  }
  one.emplace_back().longest_text = longest_text_;
  return one;
}

void LearnQueue::charge(LearnBlock& block) {
  const bool has_pairs = block.size() > 0 || !block.rejected.empty();
  block.charge = {block.size(), has_pairs ? block.byte_count() : 0};
  backlog_.add(block.charge);
}

void LearnQueue::push(LearnBlocks& blocks) {
  {
    const std::lock_guard lock(mutex_);
    blocks_.splice(blocks_.end(), blocks);
  }
  filled_.notify_one();
}

bool LearnQueue::take(LearnBlocks& blocks, std::chrono::steady_clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  filled_.wait_until(lock, deadline, [&] { return closed_ || woken_ || !blocks_.empty(); });
  woken_ = false;
  if (blocks_.empty()) return !closed_;
  blocks.splice(blocks.end(), blocks_, blocks_.begin());
  return true;
}

void LearnQueue::note_done(LearnBlock& block, std::size_t pairs) {
  block.charge.pairs -= pairs;
  backlog_.remove({pairs, 0});
}

void LearnQueue::give_back(LearnBlocks& blocks) {
  for (auto& block : blocks) {
    backlog_.remove(block.charge);
    block.clear();
  }
  const std::lock_guard lock(mutex_);
  while (!blocks.empty()) {
    if (spare_.size() < kMostSpare && blocks.front().byte_count() <= kLargestSpare) {
      spare_.splice(spare_.end(), blocks, blocks.begin());
    } else {
      blocks.pop_front();
    }
  }
}

void LearnQueue::wake() {
  {
    const std::lock_guard lock(mutex_);
    woken_ = true;
  }
  filled_.notify_one();
}

void LearnQueue::close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  filled_.notify_one();
}

}  // namespace phsic
