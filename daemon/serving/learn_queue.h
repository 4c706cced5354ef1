// What was scored and waits to be learned: the pairs of a lane between its workers and its learner.
//
// Workers hand in their batches in the order in which they took their work (by ticket), so that
// what is learned does not depend on which of them was faster. Each batch is a block of its own,
// whose memory goes when it has been learned: a backlog takes no more than it has to. A few small
// blocks are kept, so that a steady stream allocates nothing.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/items.h"
#include "daemon/serving/backlog.h"
#include "daemon/serving/job.h"
#include "engine/batch.h"
#include "state/seen_ids.h"

namespace phsic {

class LearnQueue {
 public:
  // Pairs in order, and the jobs that wait for what comes before them to be learned.
  struct Block {
    struct Marker {
      std::size_t row = 0;  // after so many pairs
      std::shared_ptr<Job> job;
    };

    ItemBlock<float> x;  // none of either where pairs were learned as they were scored
    ItemBlock<float> y;
    std::vector<double> times;
    std::string bytes;  // texts, x and y of each pair; empty for vectors
    std::vector<std::size_t> ends;
    std::vector<bool> are_vectors;
    std::vector<IdHash> ids;  // kNoId where there is none
    std::vector<Marker> markers;
    bool is_learned = false;  // only to be noted down
    std::size_t longest = 0;  // no more is kept of a text

    [[nodiscard]] std::size_t size() const { return times.size(); }
    // x and y of pair i; empty for vectors.
    [[nodiscard]] std::pair<std::string_view, std::string_view> texts(std::size_t i) const;
    // Adds row i of a job, which is row `row` of the batch. False: its items are of no use.
    [[nodiscard]] bool add(const Batch& batch, std::size_t row, const Job& job, std::size_t i,
                           double time, const IdHash& id);
    // Leaves the first so many pairs. REQUIRES: is_learned.
    void truncate(std::size_t size);
    void clear();
    [[nodiscard]] std::size_t byte_count() const;

   private:
    friend class LearnQueue;
    Backlog::Amount charge_;  // in the backlog
  };
  // A list, so that blocks change hands without a copy.
  using Blocks = std::list<Block>;

  // `whole_texts`: texts are wanted as they are, not just as much of them as is remembered. `seen`
  // are the ids of pairs that came in before. What waits here is part of the backlog.
  LearnQueue(ItemShape x, ItemShape y, bool whole_texts, SeenIds seen, Backlog& backlog);

  // A worker's turn to hand in. Construction waits for those with earlier tickets; destruction lets
  // the next one in.
  class Turn {
   public:
    Turn(LearnQueue& learn_queue, std::uint64_t ticket);
    ~Turn();
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    Turn(Turn&&) = delete;
    Turn& operator=(Turn&&) = delete;

    [[nodiscard]] bool is_known(const IdHash& id) const { return learn_queue_.seen_.contains(id); }
    // One block, empty.
    [[nodiscard]] Blocks draft() { return learn_queue_.make_draft(); }
    // From now on the ids of its pairs are known. Nothing has happened if it throws; it does not
    // where all pairs have been learned.
    void hand_in(Blocks& drafts);

   private:
    LearnQueue& learn_queue_;
    std::unique_lock<std::mutex> lock_;
  };

  // Where pairs are learned as they are scored, by the only worker.
  [[nodiscard]] Blocks draft();
  [[nodiscard]] bool is_known(const IdHash& id);
  void reserve_ids(std::size_t more);
  void note_id(const IdHash& id);

  // Waits for a block, a wake() or the deadline, and takes the first block if there is one. False:
  // closed, and nothing is left. REQUIRES: `blocks` is empty.
  [[nodiscard]] bool take(Blocks& blocks, std::chrono::steady_clock::time_point deadline);
  // Takes all that are there.
  void take_now(Blocks& blocks);
  // So many more pairs of the block have been learned.
  void note_learned(Block& block, std::size_t pairs);
  // The learner is done with them.
  void give_back(Blocks& blocks);
  void wake();
  void close();

 private:
  [[nodiscard]] Blocks make_draft();

  const ItemShape x_;
  const ItemShape y_;
  const std::size_t longest_;  // of a text
  Backlog& backlog_;
  std::mutex mutex_;  // guards everything below
  std::condition_variable turn_;
  std::condition_variable filled_;
  Blocks blocks_;
  Blocks spare_;  // empty ones
  SeenIds seen_;
  std::uint64_t next_ticket_ = 0;
  bool woken_ = false;
  bool closed_ = false;
};

}  // namespace phsic
