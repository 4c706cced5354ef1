// Explains scores, in the background: it takes a while.
#pragma once

#include <memory>
#include <string_view>

#include "daemon/serving/background.h"
#include "daemon/serving/backlog.h"
#include "daemon/serving/completion.h"
#include "daemon/serving/decide_stage.h"
#include "daemon/serving/dropped_pairs.h"
#include "daemon/serving/lane_counters.h"
#include "engine/stream_scorer.h"

namespace phsic {

class ExplainStage {
 public:
  // No more than `most_bytes` of requests wait.
  ExplainStage(const StreamScorer& stream, std::uint64_t most_bytes, Background& background,
               const DecideStage& decide, const DroppedPairs& dropped, LaneCounters& counters,
               Completion& completion);

  void set_limit(std::uint64_t most_bytes);
  // Takes a task over, or refuses it because too many wait. The loop's thread.
  [[nodiscard]] bool offer(const std::shared_ptr<Task>& task);
  // Offers are refused from now on. The loop's thread, before the background is closed.
  void close() { is_closed_ = true; }

 private:
  void explain(Task& task);
  void explain_dropped(Task& task);
  void explain(std::string_view x, std::string_view y, Task& task);

  const StreamScorer& stream_;
  Background& background_;
  const DecideStage& decide_;
  const DroppedPairs& dropped_;
  LaneCounters& counters_;
  Completion& completion_;
  Backlog waiting_;  // requests, and their bytes
  bool is_closed_ = false;
};

}  // namespace phsic
