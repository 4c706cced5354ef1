// Puts blocks of pairs in the order in which their work was taken, and finds out which pairs are
// new: what is learned does not depend on which worker was faster.
//
// Nobody waits here. A block whose turn has not come is kept until the blocks before it are there;
// whoever brings the one that was missing passes on all that have waited for it. Any thread.
#pragma once

#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include "daemon/serving/completion.h"
#include "daemon/serving/lane_counters.h"
#include "daemon/serving/learn_block.h"
#include "daemon/serving/learn_queue.h"
#include "state/seen_ids.h"

namespace phsic {

class SequenceStage {
 public:
  // `seen` are the ids of pairs that came before.
  SequenceStage(SeenIds seen, LearnQueue& next, LaneCounters& counters, Completion& completion)
      : seen_(std::move(seen)), next_(next), counters_(counters), completion_(completion) {}

  // Takes a block over. Each ticket from 0 on must come once. Allocates nothing before the block is
  // kept.
  void hand_in(LearnBlocks& block);

 private:
  void pass_on(LearnBlocks& block);
  void find_new(LearnBlock& block);
  void refuse(LearnBlock& block, const char* message);

  // These belong to whoever passes on, one thread at a time.
  SeenIds seen_;
  LearnQueue& next_;
  LaneCounters& counters_;
  Completion& completion_;
  std::vector<LearnBlock::Part> parts_;  // scratch

  std::mutex mutex_;     // guards what follows
  LearnBlocks waiting_;  // ascending by ticket
  std::uint64_t next_ticket_ = 0;
  bool is_passing_on_ = false;
};

}  // namespace phsic
