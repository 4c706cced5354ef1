#include "daemon/serving/decide_stage.h"

#include <catch2/catch.hpp>
#include <memory>
#include <vector>

#include "tests/daemon/stage_scene.h"

namespace phsic::test {
namespace {

struct Deciding : StageScene {
  Deciding() { set_rules("no_empty"); }

  DecideStage stage{plan, counters};
  RuleScratch scratch;

  void set_rules(std::string_view rules) {
    auto wanted = open_plan();
    wanted.rules = RuleSet::parse(rules);
    plan.set(std::make_shared<const DecidePlan>(wanted));
  }
  // Pairs of these x, and a y that breaks no rule.
  [[nodiscard]] std::shared_ptr<Task> pairs(Operation operation,
                                            const std::vector<std::string>& x) const {
    auto request = request_of(operation, x);
    request.pairs.y.assign(x.size(), "y");
    return task(std::move(request));
  }
};

std::vector<std::string> reasons_of(const Task& task) {
  std::vector<std::string> names;
  for (const auto code : task.outcome.reason) names.push_back(name_of_reason(code));
  return names;
}

using Names = std::vector<std::string>;

TEST_CASE("A pair that breaks a rule is dropped, with the rule and the side") {
  Deciding scene;
  const auto task = scene.pairs(Operation::kScore, {"a", "", "b"});
  scene.stage.check({StageScene::whole(task)}, scene.scratch);
  CHECK(reasons_of(*task) == Names{"unscored", "no_empty(left)", "unscored"});
  CHECK(task->outcome.decision(1).verdict == Verdict::kDrop);
  CHECK(task->outcome.decision(0).verdict == Verdict::kUndecided);
}

TEST_CASE("Rows that others decide about are left alone") {
  Deciding scene;
  const auto task = scene.pairs(Operation::kScore, {"", "", "", ""});
  scene.stage.check({{task, 1, 2}}, scene.scratch);
  CHECK(reasons_of(*task) == Names{"unscored", "no_empty(left)", "no_empty(left)", "unscored"});
}

TEST_CASE("Pairs that are only taught keep to the rules, too; candidates and vectors have none") {
  Deciding scene;
  const auto learned = scene.pairs(Operation::kLearn, {"", "a"});
  const auto ranked = scene.task(request_of(Operation::kRank, {""}));
  auto vectors = request_of(Operation::kScore, {});
  vectors.pairs.are_vectors = true;
  vectors.pairs.y_rows = 1;
  const auto values = scene.task(std::move(vectors));
  scene.stage.check(
      {StageScene::whole(learned), StageScene::whole(ranked), StageScene::whole(values)},
      scene.scratch);
  CHECK(reasons_of(*learned) == Names{"no_empty(left)", ""});
  CHECK(ranked->outcome.reason.empty());
  CHECK(reasons_of(*values) == Names{"unscored"});
}

TEST_CASE("Other rules hold for what is decided from then on") {
  Deciding scene;
  scene.set_rules("none");
  const auto task = scene.pairs(Operation::kScore, {""});
  scene.stage.check({StageScene::whole(task)}, scene.scratch);
  CHECK(reasons_of(*task) == Names{"unscored"});
  scene.set_rules("no_empty");
  scene.stage.check({StageScene::whole(task)}, scene.scratch);
  CHECK(reasons_of(*task) == Names{"no_empty(left)"});
}

TEST_CASE("Decisions are counted here only where nothing more will be said of a pair") {
  Deciding scene;
  const auto scored = scene.pairs(Operation::kScore, {"", "a"});
  auto request = request_of(Operation::kScore, {"", "a"});
  request.learns = true;
  const auto teaching = scene.task(std::move(request));
  const std::vector<Slice> slices = {StageScene::whole(scored), StageScene::whole(teaching)};
  scene.stage.check(slices, scene.scratch);
  scene.stage.count(slices);
  CHECK(scene.counters.aside[Verdict::kDrop] == 1);
  CHECK(scene.counters.aside[Verdict::kUndecided] == 1);
  CHECK(scene.counters.taught[Verdict::kDrop] == 0);
  CHECK(scene.counters.reasons() ==
        std::map<std::string, std::uint64_t>{{"no_empty(left)", 1}, {"unscored", 1}});
}

}  // namespace
}  // namespace phsic::test
