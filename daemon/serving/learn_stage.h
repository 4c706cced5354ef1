// The learner of a stream with models: learns in order, has models built, keeps snapshots.
//
// One thread, and the only one that changes what was learned.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include "daemon/serving/decision_keeper.h"
#include "daemon/serving/lane_counters.h"
#include "daemon/serving/learn_queue.h"
#include "daemon/serving/learned_tasks.h"
#include "daemon/serving/model_builder.h"
#include "daemon/serving/snapshots.h"
#include "daemon/serving/waiting_sources.h"
#include "engine/stream_learner.h"

namespace phsic {

class LearnStage {
 public:
  LearnStage(const StreamLearner& stream, DecisionKeeper& decisions, LearnQueue& queue,
             ModelBuilder& builder, Snapshots& snapshots, LearnedTasks& tasks,
             LaneCounters& counters, WaitingSources& sources);

  // Learns until the queue is closed and everything in it is learned.
  void run();

 private:
  [[nodiscard]] std::chrono::steady_clock::time_point next_look() const;
  void do_what_is_due();
  void learn(LearnBlock& block);
  void learn_rows(LearnBlock& block, std::size_t first, std::size_t last);
  void learn_run(LearnBlock& block, std::size_t first, std::size_t last);
  std::size_t learn_piece(LearnBlock& block, std::size_t first, std::size_t count);
  void note(const LearnBlock& block, std::size_t first, std::size_t last);
  void note_rejected(const LearnBlock& block, std::size_t place);
  void pass(const std::shared_ptr<Task>& task);
  void adopt();

  const StreamLearner& stream_;
  DecisionKeeper& decisions_;
  LearnQueue& queue_;
  ModelBuilder& builder_;
  Snapshots& snapshots_;
  LearnedTasks& tasks_;
  LaneCounters& counters_;
  WaitingSources& sources_;
  std::size_t rejected_noted_ = 0;   // of the block
  std::vector<std::string_view> x_;  // scratch
  std::vector<std::string_view> y_;
};

}  // namespace phsic
