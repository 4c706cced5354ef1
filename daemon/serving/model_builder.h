// Has a stream's models built in the background while learning goes on, and brings them into use.
//
// For the learner's thread.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "daemon/serving/background.h"
#include "daemon/serving/lane_counters.h"
#include "daemon/serving/learned_tasks.h"
#include "daemon/serving/refresh_requests.h"
#include "daemon/serving/reporter.h"
#include "engine/model_cycle.h"
#include "engine/stream.h"

namespace phsic {

class ModelBuilder {
 public:
  // `pending` is a model that was begun before the daemon ended, `model_pairs` how many pairs the
  // model in use has surely seen. `wake` wakes the learner when a model is built, from another
  // thread.
  ModelBuilder(Stream& stream, ModelCycle::Notes* notes, std::unique_ptr<Refresh> pending,
               std::uint64_t model_pairs, Background& background, LaneCounters& counters,
               LearnedTasks& tasks, Reporter& reporter, std::function<void()> wake);

  // A new model after so many seconds if anything was learned, 0: never; and after so many pairs.
  // Any thread; the second comes into force with follow_schedule().
  void set_schedule(double seconds, std::uint64_t pairs);
  void follow_schedule() { cycle_.refresh_every(every_pairs_); }

  // Learns rows from `first` on, and stops where a model is due. Returns the row after the last one
  // learned.
  std::size_t learn(const LearnBatch& batch, std::size_t first);
  // Begins the model that is due by number, or by time.
  void begin_if_due();
  void begin_by_time();

  // A task that asks for a model. It is done when one is in use that was begun after it came.
  void add(const std::shared_ptr<Task>& task);
  // A task that is done when the model on its way is in use. REQUIRES: there is one.
  void wait_with(const std::shared_ptr<Task>& task) { after_this_.push_back(task); }

  [[nodiscard]] bool is_building() const { return cycle_.pending() != nullptr; }
  // The model on its way is built.
  [[nodiscard]] bool is_built() const { return is_built_; }
  // Brings it into use, or tells why it cannot be used. Throws when the stream is left half
  // changed, and cannot go on. REQUIRES: is_built().
  void adopt();
  // Begins the next one that was asked for, if none is on its way.
  void begin_asked();
  // Builds and adopts all that was asked for. Waits.
  void finish();

  // When to look again.
  [[nodiscard]] std::chrono::steady_clock::time_point next_look() const;

 private:
  using Clock = std::chrono::steady_clock;

  std::string begin(PairExtent extent);
  void build_in_background();

  Stream& stream_;
  ModelCycle cycle_;
  Background& background_;
  LaneCounters& counters_;
  LearnedTasks& tasks_;
  Reporter& reporter_;
  const std::function<void()> wake_;
  std::atomic<double> every_seconds_{0};
  std::atomic<std::uint64_t> every_pairs_{0};

  std::vector<std::shared_ptr<Task>> after_this_;
  RefreshRequests asked_;  // wait until another model may be begun
  Clock::time_point last_begun_ = Clock::now();
  std::uint64_t pairs_at_last_;
  std::string build_error_;  // the background's until is_built_
  std::atomic<bool> is_built_{false};
};

}  // namespace phsic
