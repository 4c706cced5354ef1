// The pipeline of a stream with models: workers that score, a stage that puts their work in order,
// and a learner.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <thread>
#include <vector>

#include "daemon/serving/learn_queue.h"
#include "daemon/serving/learn_stage.h"
#include "daemon/serving/learned_tasks.h"
#include "daemon/serving/model_builder.h"
#include "daemon/serving/pipeline.h"
#include "daemon/serving/score_stage.h"
#include "daemon/serving/sequence_stage.h"
#include "daemon/serving/snapshots.h"
#include "daemon/serving/worker_scratch.h"

namespace phsic {

class ModelPipeline : public Pipeline {
 public:
  ModelPipeline(LaneParts& parts, Recovery recovery);
  ~ModelPipeline() override;
  ModelPipeline(const ModelPipeline&) = delete;
  ModelPipeline& operator=(const ModelPipeline&) = delete;
  ModelPipeline(ModelPipeline&&) = delete;
  ModelPipeline& operator=(ModelPipeline&&) = delete;

  void update(const StreamSettings& settings) override;
  [[nodiscard]] bool score_here(const std::shared_ptr<Task>& task) override;

 private:
  void start_threads();
  void work();
  void end_worker();
  void join();
  void hand_on(const WorkerScratch& scratch, LearnBlocks& block);

  LaneParts& parts_;
  const std::size_t batch_pairs_;
  WorkerScratch own_scratch_;  // the loop's
  LearnQueue learn_queue_;
  LearnedTasks tasks_;
  Snapshots snapshots_;
  ScoreStage score_;
  SequenceStage sequence_;
  ModelBuilder builder_;  // begins to build at once: nothing after it may throw before join() can
  LearnStage learn_;
  std::atomic<std::size_t> workers_left_;
  std::vector<std::thread> threads_;
};

}  // namespace phsic
