#include "daemon/serving/explain_stage.h"

#include <fmt/format.h>

#include <exception>
#include <limits>
#include <utility>

#include "core/calibration.h"
#include "daemon/serving/when_memory.h"
#include "decide/decision.h"
#include "engine/reason.h"

namespace phsic {
namespace {

constexpr std::uint64_t kMostWaiting = 64;

}  // namespace

ExplainStage::ExplainStage(const StreamScorer& stream, std::uint64_t most_bytes,
                           Background& background, const DecideStage& decide,
                           const DroppedPairs& dropped, LaneCounters& counters,
                           Completion& completion)
    : stream_(stream),
      background_(background),
      decide_(decide),
      dropped_(dropped),
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
    if (!request.pair_id.empty()) {
      explain_dropped(task);
    } else {
      explain(request.pairs.x[0], request.pairs.y[0], task);
    }
  } catch (const std::exception& problem) {
    ++counters_.failed;
    request.pairs = {};
    when_there_is_memory([&] { outcome.error.emplace("failed", reason(problem)); });
  }
}

// Tells the numbers of a dropped pair as they were, and explains its score by the present model.
void ExplainStage::explain_dropped(Task& task) {
  auto& outcome = task.outcome;
  outcome.dropped = dropped_.find(task.request.pair_id);
  if (!outcome.dropped) {
    outcome.error.emplace(
        "unknown_pair",
        fmt::format("no pair of the id {} was dropped not long ago, expected one that was",
                    task.request.pair_id));
    return;
  }
  if (outcome.dropped->are_vectors) return;
  explain(outcome.dropped->x, outcome.dropped->y, task);
  // There may be nothing to explain with: what was remembered is told all the same.
  outcome.error.reset();
}

void ExplainStage::explain(std::string_view x, std::string_view y, Task& task) {
  auto& outcome = task.outcome;
  auto found = stream_.explain(x, y, {.top = task.request.top});
  if (!found) {
    outcome.error.emplace("not_ready",
                          "there is no model yet to explain with, expected one after a refresh");
    return;
  }
  if (!found->problem.empty()) {
    outcome.error.emplace("bad_request", found->problem);
    return;
  }
  const auto& published = *found->published;
  const auto& calibration = published.calibration();
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  outcome.percentile.assign(1, calibration.percentile(found->score).value_or(kNone));
  outcome.p_value.assign(1, calibration.p_value(found->score).value_or(kNone));
  const auto* judgement = found->judgement ? &*found->judgement : nullptr;
  const auto decision = decide_.decide(x, y, published, found->score, judgement);
  outcome.verdict.assign(1, static_cast<std::uint8_t>(decision.verdict));
  outcome.reason.assign(1, decision.reason);
  outcome.explanation = std::move(found);
}

}  // namespace phsic
