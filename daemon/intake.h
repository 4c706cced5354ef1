// What was scored and waits to be learned: the pairs of a lane between its workers and its learner.
//
// Workers append in the order in which they took their work (by ticket), so that what is learned
// does not depend on which of them was faster. Items are packed: how much waits is bounded by what
// the lane accepts.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/items.h"
#include "daemon/job.h"
#include "engine/batch.h"
#include "state/seen_ids.h"

namespace phsic {

class Intake {
 public:
  // Pairs in order, and the jobs that wait for what comes before them to be learned.
  struct Block {
    struct Marker {
      std::size_t row = 0;  // after so many pairs
      std::shared_ptr<Job> job;
    };

    ItemBlock<float> x;
    ItemBlock<float> y;
    std::vector<double> times;
    std::string bytes;  // texts, x and y of each pair; empty for vectors
    std::vector<std::size_t> ends;
    std::vector<bool> are_vectors;
    std::vector<IdHash> ids;  // kNoId where there is none
    std::vector<Marker> markers;
    std::size_t accepted = 0;  // pairs that came in, usable or not

    [[nodiscard]] std::size_t size() const { return times.size(); }
    // x and y of pair i; empty for vectors.
    [[nodiscard]] std::pair<std::string_view, std::string_view> texts(std::size_t i) const;
    void clear();
  };

  // `whole_texts`: texts are wanted as they are, not just as much of them as is remembered. `seen`
  // are the ids of pairs that came in before.
  Intake(ItemShape x, ItemShape y, bool whole_texts, SeenIds seen);

  // A worker's turn to append. Construction waits for those with earlier tickets; destruction lets
  // the next one in.
  class Turn {
   public:
    Turn(Intake& intake, std::uint64_t ticket);
    ~Turn();
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    Turn(Turn&&) = delete;
    Turn& operator=(Turn&&) = delete;

    // Adds row i of the batch, which is usable. Texts may be null.
    void add(const Batch& batch, std::size_t i, double time, const std::string_view* x,
             const std::string_view* y, const IdHash& id);
    // Is it the first pair of that id? From now on it is not.
    [[nodiscard]] bool is_first(const IdHash& id) { return intake_.note_id(id); }
    void count(std::size_t accepted) { intake_.block_.accepted += accepted; }
    void mark(std::shared_ptr<Job> job);

   private:
    Intake& intake_;
    std::unique_lock<std::mutex> lock_;
  };

  // As a turn does, without one: where there is only one worker.
  [[nodiscard]] bool is_first(const IdHash& id);

  // Waits for pairs, markers, a wake() or the deadline, and takes what is there. False: closed, and
  // nothing is left.
  [[nodiscard]] bool take(Block& block, std::chrono::steady_clock::time_point deadline);
  // Takes what is there.
  void take_now(Block& block);
  void wake();
  void close();

 private:
  [[nodiscard]] bool note_id(const IdHash& id) { return id == kNoId || seen_.add(id); }
  void make_ready(Block& block) const;

  const ItemShape x_;
  const ItemShape y_;
  const std::size_t longest_;  // of a text
  std::mutex mutex_;           // guards everything below
  std::condition_variable turn_;
  std::condition_variable filled_;
  Block block_;
  SeenIds seen_;
  std::uint64_t next_ticket_ = 0;
  bool woken_ = false;
  bool closed_ = false;
};

}  // namespace phsic
