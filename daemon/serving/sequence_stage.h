// Puts blocks of pairs in the order in which their work was taken, and finds out which pairs are
// new, by their ids and by what they say: what is learned, and what is dropped as a duplicate, does
// not depend on which worker was faster.
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
#include "daemon/serving/published_plan.h"
#include "decide/recent_pairs.h"
#include "state/seen_ids.h"

namespace phsic {

class SequenceStage {
 public:
  // `seen` are the ids of pairs that came before, `recent` pairs that were learned.
  SequenceStage(SeenIds seen, RecentPairs recent, const PublishedPlan& plan, LearnQueue& next,
                LaneCounters& counters, Completion& completion)
      : seen_(std::move(seen)),
        recent_(std::move(recent)),
        plan_(plan),
        next_(next),
        counters_(counters),
        completion_(completion) {}

  // Takes a block over. Each ticket from 0 on must come once. Allocates nothing before the block is
  // kept.
  void hand_in(LearnBlocks& block);

 private:
  // Which of a part's pairs are not learned.
  struct Found {
    std::size_t known = 0;     // by their ids
    std::size_t rejected = 0;  // as duplicates
  };

  void pass_on(LearnBlocks& block, LearnBlock::Parts& told);
  void find_new(LearnBlock& block);
  Found find_new(LearnBlock& block, Task& task, std::size_t first, std::size_t last,
                 DuplicatePolicy policy);
  [[nodiscard]] bool is_rejected(LearnBlock& block, Task& task, std::size_t row,
                                 DuplicatePolicy policy);
  void merge_rejected(std::size_t place, const LearnBlock& block);
  void refuse(LearnBlock& block, const char* message);

  // These belong to whoever passes on, one thread at a time.
  SeenIds seen_;
  RecentPairs recent_;
  const PublishedPlan& plan_;
  LearnQueue& next_;
  LaneCounters& counters_;
  Completion& completion_;
  std::vector<LearnBlock::Rejected> rejected_;  // scratch: of a block, as far as it was looked at
  std::size_t merged_ = 0;                      // of those that it came with

  std::mutex mutex_;     // guards what follows
  LearnBlocks waiting_;  // ascending by ticket
  std::uint64_t next_ticket_ = 0;
  bool is_passing_on_ = false;
};

}  // namespace phsic
