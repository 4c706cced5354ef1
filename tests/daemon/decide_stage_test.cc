#include "daemon/serving/decide_stage.h"

#include <catch2/catch.hpp>
#include <memory>
#include <vector>

#include "daemon/serving/score_stage.h"
#include "tests/daemon/stage_scene.h"

namespace phsic::test {
namespace {

struct Deciding : StageScene {
  Deciding() { set_rules("no_empty"); }

  DecideStage stage{plan, counters};
  DriftWatch drift{ServingState(0), counters, reporter};
  ScoreStage score{stream, counters, drift, completion};
  RuleScratch scratch;
  WorkerScratch work{100};

  void set_rules(std::string_view rules) {
    auto wanted = open_plan();
    wanted.rules = RuleSet::parse(rules);
    plan.set(std::make_shared<const DecidePlan>(wanted));
  }
  // Both steps, with the scoring between them.
  void decide(const std::vector<Slice>& slices) {
    work.taken.slices = slices;
    stage.check(slices, work.rules);
    score.score(work);
    stage.decide(work);
  }
  // From now on pairs are scored by a model of this cut.
  void publish(std::uint64_t number, double cut) {
    auto model = std::make_shared<PublishedModel>(*fake_model(number));
    model->cut = cut;
    stream.publish(std::move(model));
  }
  // Pairs of these x, and a y that breaks no rule. The score of a pair is the size of its x less 1.
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

TEST_CASE("A pair is decided by the cut of the model that scored it, whoever asks") {
  Deciding scene;
  scene.publish(3, 1.5);
  const auto first = scene.pairs(Operation::kScore, {"a", "bb", "ccc"});
  const auto second = scene.pairs(Operation::kScore, {"dddd", "bad"});
  // Of the first task only a part is taken.
  scene.decide({{first, 1, 2}, StageScene::whole(second)});
  CHECK(reasons_of(*first) == Names{"unscored", "cut", ""});
  CHECK(first->outcome.decision(1).verdict == Verdict::kDrop);
  CHECK(first->outcome.decision(2).verdict == Verdict::kKeep);
  CHECK(reasons_of(*second) == Names{"", "unscored"});
}

TEST_CASE("A pair that breaks a rule stays dropped for that, whatever its score") {
  Deciding scene;
  scene.publish(1, -10);
  const auto task = scene.pairs(Operation::kScore, {"", "a"});
  scene.decide({StageScene::whole(task)});
  CHECK(task->outcome.score[0] == -1);
  CHECK(reasons_of(*task) == Names{"no_empty(left)", ""});
}

TEST_CASE("Pairs that are only taught are not decided about by a score that nobody asked for") {
  Deciding scene;
  scene.publish(1, 1.5);
  const auto learned = scene.pairs(Operation::kLearn, {"a"});
  const auto scored = scene.pairs(Operation::kScore, {"a"});
  scene.decide({StageScene::whole(learned), StageScene::whole(scored)});
  CHECK(reasons_of(*learned) == Names{""});
  CHECK(learned->outcome.decision(0).verdict == Verdict::kKeep);
  CHECK(reasons_of(*scored) == Names{"cut"});
}

TEST_CASE("Pairs that the encoder fails on are not decided about") {
  Deciding scene;
  scene.publish(1, 1.5);
  const auto broken = scene.pairs(Operation::kScore, {"broken"});
  const auto whole = scene.pairs(Operation::kScore, {"ccc"});
  scene.decide({StageScene::whole(broken), StageScene::whole(whole)});
  CHECK(reasons_of(*broken) == Names{"unscored"});
  CHECK(reasons_of(*whole) == Names{""});
}

TEST_CASE("One pair of texts is decided about as a row of a request is, and not counted") {
  Deciding scene;
  scene.publish(1, 1.5);
  const auto& published = *scene.stream.published();
  const auto reason_for = [&](std::string_view x, double score) {
    return name_of_reason(scene.stage.decide(x, "y", published, score, nullptr).reason);
  };
  CHECK(reason_for("", 7) == "no_empty(left)");
  CHECK(reason_for("a", 1) == "cut");
  CHECK(reason_for("a", 2).empty());
  CHECK(scene.counters.aside[Verdict::kDrop] == 0);
}

TEST_CASE("Decisions are counted here only where nothing more will be said of a pair") {
  Deciding scene;
  const auto scored = scene.pairs(Operation::kScore, {"", "a"});
  auto request = request_of(Operation::kScore, {"", "a"});
  request.learns = true;
  const auto teaching = scene.task(std::move(request));
  const std::vector<Slice> slices = {StageScene::whole(scored), StageScene::whole(teaching)};
  scene.decide(slices);
  CHECK(scene.counters.aside[Verdict::kDrop] == 1);
  CHECK(scene.counters.aside[Verdict::kUndecided] == 1);
  CHECK(scene.counters.taught[Verdict::kDrop] == 0);
  CHECK(scene.counters.reasons() ==
        std::map<std::string, std::uint64_t>{{"no_empty(left)", 1}, {"no_model", 1}});
}

}  // namespace
}  // namespace phsic::test
