// What waits to be learned, in order: blocks of pairs between the sequence stage and the learner.
//
// The memory of a block goes when it has been learned: a backlog takes no more than it has to. A
// few small blocks are kept, so that a steady stream allocates nothing. Any thread.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>

#include "daemon/serving/backlog.h"
#include "daemon/serving/learn_block.h"

namespace phsic {

class LearnQueue {
 public:
  // No more than `longest_text` is kept of a text. What waits here is part of the backlog.
  LearnQueue(std::size_t longest_text, Backlog& backlog);

  // One block, empty.
  [[nodiscard]] LearnBlocks make_block();
  // Counts a block in the backlog, until it has been learned or given back.
  void charge(LearnBlock& block);
  // Appends blocks.
  void push(LearnBlocks& blocks);

  // Waits for a block, a wake() or the deadline, and takes the first block if there is one. False:
  // closed, and nothing is left. REQUIRES: `blocks` is empty.
  [[nodiscard]] bool take(LearnBlocks& blocks, std::chrono::steady_clock::time_point deadline);
  // So many more pairs of the block have been learned, or never will be.
  void note_done(LearnBlock& block, std::size_t pairs);
  // Takes back blocks that nobody needs any more.
  void give_back(LearnBlocks& blocks);
  void wake();
  void close();

 private:
  const std::size_t longest_text_;
  Backlog& backlog_;
  std::mutex mutex_;  // guards everything below
  std::condition_variable filled_;
  LearnBlocks blocks_;
  LearnBlocks spare_;  // empty ones
  bool woken_ = false;
  bool closed_ = false;
};

}  // namespace phsic
