// The pipeline of a stream that counts: one ordered stage in one thread, and one that answers.
#pragma once

#include <memory>
#include <thread>

#include "daemon/serving/answer_stage.h"
#include "daemon/serving/count_stage.h"
#include "daemon/serving/learned_tasks.h"
#include "daemon/serving/pipeline.h"
#include "daemon/serving/snapshots.h"

namespace phsic {

class CountPipeline : public Pipeline {
 public:
  CountPipeline(LaneParts& parts, Recovery recovery);
  ~CountPipeline() override;
  CountPipeline(const CountPipeline&) = delete;
  CountPipeline& operator=(const CountPipeline&) = delete;
  CountPipeline(CountPipeline&&) = delete;
  CountPipeline& operator=(CountPipeline&&) = delete;

  void update(const StreamSettings& settings) override;
  [[nodiscard]] bool score_here(const std::shared_ptr<Task>& /*task*/) override { return false; }

 private:
  void join();

  LaneParts& parts_;
  LearnedTasks tasks_;
  Snapshots snapshots_;
  AnswerStage answers_;
  CountStage stage_;
  std::thread thread_;
};

}  // namespace phsic
