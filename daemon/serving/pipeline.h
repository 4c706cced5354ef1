// From the queue of a lane to what was learned: its stages, and the threads that run them.
#pragma once

#include <cstdint>
#include <memory>

#include "daemon/config.h"
#include "daemon/serving/task.h"

namespace phsic {

struct LaneParts;
struct Recovery;

// A batch has at most so many bytes, or one pair: who comes next waits until it is scored.
inline constexpr std::uint64_t kBatchBytes = 1U << 20U;

class Pipeline {
 public:
  // Starts the threads, which end when the queue is closed and everything is done. The stream goes
  // on where `recovery` ended. The parts outlive the pipeline.
  [[nodiscard]] static std::unique_ptr<Pipeline> start(LaneParts& parts, Recovery recovery);

  Pipeline() = default;
  // Waits for the threads. REQUIRES: the queue is closed.
  virtual ~Pipeline() = default;
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;
  Pipeline(Pipeline&&) = delete;
  Pipeline& operator=(Pipeline&&) = delete;

  // The loop's thread: takes over what may change while it runs.
  virtual void update(const StreamSettings& settings) = 0;
  // The loop's thread: scores a few vectors itself, which saves two changes of threads, where there
  // is nothing to encode, nothing to learn and nobody before them. False: it is not such a task.
  [[nodiscard]] virtual bool score_here(const std::shared_ptr<Task>& task) = 0;
};

}  // namespace phsic
