// What a stage needs around it: a stream that is a fake, counters, and the end of each task.
#pragma once

#include <cstddef>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "daemon/serving/backlog.h"
#include "daemon/serving/completion.h"
#include "daemon/serving/dropped_pairs.h"
#include "daemon/serving/lane_counters.h"
#include "daemon/serving/published_plan.h"
#include "daemon/serving/reporter.h"
#include "daemon/serving/waiting_sources.h"
#include "tests/daemon/fake_caller.h"
#include "tests/daemon/fake_listener.h"
#include "tests/daemon/fake_stream.h"

namespace phsic::test {

// A request with pairs of these texts and empty ones.
[[nodiscard]] inline Request request_of(Operation operation, const std::vector<std::string>& x) {
  Request request;
  request.operation = operation;
  request.scores = operation == Operation::kScore || operation == Operation::kRank;
  request.learns = operation == Operation::kLearn;
  request.pairs.bytes.reserve(256);  // elsewhere than in the string, which is going to move
  for (const auto& text : x) request.pairs.bytes += text;
  std::string_view rest = request.pairs.bytes;
  for (const auto& text : x) {
    request.pairs.x.push_back(rest.substr(0, text.size()));
    request.pairs.y.emplace_back("");
    rest.remove_prefix(text.size());
  }
  return request;
}

// No rules, no duplicates: pairs are what a test says of them.
[[nodiscard]] inline DecidePlan open_plan() {
  DecidePlan plan;
  plan.rules = RuleSet::none();
  plan.duplicates = DuplicatePolicy::kLearn;
  plan.duplicate_window = 100;
  plan.cut = {CutSpec::Kind::kNone, 0};
  return plan;
}

// As a lane has made it ready.
inline void make_columns(Task& task) {
  auto& outcome = task.outcome;
  const auto rows = task.request.pairs.size();
  if (task.request.is_decided()) {
    const auto verdict = task.request.scores ? Verdict::kUndecided : Verdict::kKeep;
    outcome.verdict.assign(rows, static_cast<std::uint8_t>(verdict));
    outcome.reason.assign(rows, task.request.scores ? reasons::kUnscored : reasons::kNone);
  }
  if (!task.request.scores) return;
  for (auto* values : {&outcome.score, &outcome.percentile, &outcome.p_value}) {
    values->assign(rows, std::numeric_limits<double>::quiet_NaN());
  }
}

struct StageScene {
  FakeStream stream;
  LaneCounters counters;
  FakeListener listener;
  Reporter reporter{listener};
  WaitingSources sources;
  Backlog backlog{{1'000'000, 1'000'000'000}};
  DroppedPairs dropped;
  PublishedPlan plan{open_plan()};
  Completion completion{stream, backlog, counters, reporter, sources, dropped};
  std::shared_ptr<FakeCaller> caller = std::make_shared<FakeCaller>();

  // As a lane has made it ready.
  [[nodiscard]] std::shared_ptr<Task> task(Request request, bool waits_for_learner = false) const {
    auto made = std::make_shared<Task>(std::move(request), lent(caller));
    made->waits_for_learner = waits_for_learner;
    Completion::begin(*made);
    make_columns(*made);
    if (made->request.scores) made->outcome.published = stream.published();
    return made;
  }
  [[nodiscard]] static Slice whole(const std::shared_ptr<Task>& task) {
    return {task, 0, task->request.pairs.size()};
  }
};

}  // namespace phsic::test
