#include "daemon/serving/explain_stage.h"

#include <exception>
#include <utility>

#include "daemon/serving/when_memory.h"
#include "engine/reason.h"

namespace phsic {
namespace {

constexpr std::uint64_t kMostWaiting = 64;

}  // namespace

ExplainStage::ExplainStage(const StreamScorer& stream, std::uint64_t most_bytes,
                           Background& background, LaneCounters& counters, Completion& completion)
    : stream_(stream),
      background_(background),
      counters_(counters),
      completion_(completion),
      waiting_({kMostWaiting, most_bytes}) {}

void ExplainStage::set_limit(std::uint64_t most_bytes) {
  waiting_.set_limits({kMostWaiting, most_bytes});
}

bool ExplainStage::offer(const std::shared_ptr<Task>& task) {
  const Amount more{1, task->byte_count()};
  if (is_closed_ || !waiting_.has_room(more)) return false;
  waiting_.add(more);
  try {
    background_.add([this, task, more] {
      explain(*task);
      waiting_.remove(more);
      completion_.answered(task);
    });
  } catch (...) {
    waiting_.remove(more);
    throw;
  }
  return true;
}

void ExplainStage::explain(Task& task) {
  auto& request = task.request;
  auto& outcome = task.outcome;
  try {
    auto found = stream_.explain(request.pairs.x[0], request.pairs.y[0], request.top);
    if (!found) {
      outcome.error.emplace("not_ready",
                            "there is no model yet to explain with, expected one after a refresh");
    } else if (!found->problem.empty()) {
      outcome.error.emplace("bad_request", found->problem);
    } else {
      outcome.explanation = std::move(found);
    }
  } catch (const std::exception& problem) {
    ++counters_.failed;
    request.pairs = {};
    when_there_is_memory([&] { outcome.error.emplace("failed", reason(problem)); });
  }
}

}  // namespace phsic
