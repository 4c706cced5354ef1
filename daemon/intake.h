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
#include <vector>

#include "core/items.h"
#include "daemon/job.h"
#include "engine/batch.h"

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
    std::vector<Marker> markers;
    std::size_t accepted = 0;  // pairs that came in, usable or not

    [[nodiscard]] std::size_t size() const { return times.size(); }
    void clear();
  };

  Intake(ItemShape x, ItemShape y);

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
             const std::string_view* y);
    void count(std::size_t accepted) { intake_.block_.accepted += accepted; }
    void mark(std::shared_ptr<Job> job);

   private:
    Intake& intake_;
    std::unique_lock<std::mutex> lock_;
  };

  // Waits for pairs, markers, a wake() or the deadline, and takes what is there. False: closed, and
  // nothing is left.
  [[nodiscard]] bool take(Block& block, std::chrono::steady_clock::time_point deadline);
  void wake();
  void close();

 private:
  const ItemShape x_;
  const ItemShape y_;
  std::mutex mutex_;  // guards everything below
  std::condition_variable turn_;
  std::condition_variable filled_;
  Block block_;
  std::uint64_t next_ticket_ = 0;
  bool woken_ = false;
  bool closed_ = false;
};

}  // namespace phsic
