#include "daemon/serving/score_stage.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "tests/daemon/stage_scene.h"

namespace phsic::test {
namespace {

struct Scoring : StageScene {
  DriftWatch drift{ServingState(0), counters, reporter};
  ScoreStage stage{stream, counters, drift, completion};
  WorkerScratch scratch{100};

  void score(const std::vector<Slice>& slices) {
    scratch.taken.slices = slices;
    stage.score(scratch);
  }
  [[nodiscard]] std::shared_ptr<Task> texts(const std::vector<std::string>& x) const {
    return task(request_of(Operation::kScore, x));
  }
  [[nodiscard]] std::shared_ptr<Task> vectors(const std::vector<float>& x) const {
    Request request;
    request.operation = Operation::kScore;
    request.scores = true;
    auto& pairs = request.pairs;
    pairs.are_vectors = true;
    pairs.x_values = x;
    pairs.y_values.assign(x.size(), 0.5F);
    pairs.x_rows = pairs.y_rows = x.size();
    pairs.x_dim = pairs.y_dim = 1;
    return task(std::move(request));
  }
  // A rank of these candidates.
  [[nodiscard]] std::shared_ptr<Task> candidates(const std::string& x,
                                                 const std::vector<std::string>& y) const {
    auto request = request_of(Operation::kRank, y);
    auto& pairs = request.pairs;
    pairs.y = std::move(pairs.x);
    pairs.x = {x == "bad" ? "bad" : "four"};
    return task(std::move(request));
  }
};

TEST_CASE("Each task gets the scores of its own rows, texts and vectors together") {
  Scoring scene;
  std::vector<std::size_t> batches;
  scene.stream.when_encoded = [&](std::size_t rows) { batches.push_back(rows); };
  const auto first = scene.texts({"a", "bb", "ccc"});
  const auto second = scene.vectors({1.5F, 2.5F});
  const auto third = scene.texts({"dddd"});
  // Of the first task only a part is taken.
  scene.score({{first, 1, 2}, Scoring::whole(second), Scoring::whole(third)});
  CHECK(std::isnan(first->outcome.score[0]));
  CHECK(first->outcome.score[1] == 2);
  CHECK(first->outcome.score[2] == 3);
  CHECK(second->outcome.score == std::vector<double>{1, 2});
  CHECK(third->outcome.score == std::vector<double>{4});
  CHECK(batches == std::vector<std::size_t>{3});
  CHECK(scene.counters.scored == 5);
  CHECK(scene.scratch.failed.empty());
}

TEST_CASE("A text that the encoder fails on fails its own request, and no other") {
  Scoring scene;
  const auto good = scene.texts({"a", "bb"});
  const auto broken = scene.texts({"ccc", "broken"});
  const auto other = scene.texts({"dddd"});
  const auto vectors = scene.vectors({1.5F});
  scene.score({Scoring::whole(good), Scoring::whole(broken), Scoring::whole(other),
               Scoring::whole(vectors)});
  CHECK(good->outcome.score == std::vector<double>{1, 2});
  CHECK(other->outcome.score == std::vector<double>{4});
  CHECK(vectors->outcome.score == std::vector<double>{1});
  for (const auto& task : {good, other, vectors}) CHECK_FALSE(task->outcome.error.has_value());
  REQUIRE(broken->outcome.error.has_value());
  CHECK(std::string(broken->outcome.error->what()) == "the encoder is broken");
  CHECK(broken->outcome.problems.size() == 2);
  REQUIRE(scene.scratch.failed.size() == 1);
  CHECK(scene.scratch.failed[0].task == broken);
  CHECK(scene.counters.failed == 1);
  // The pairs that were encoded are there to be learned.
  std::size_t encoded = 0;
  for (std::size_t k = 0; k < scene.scratch.groups_used; ++k) {
    encoded += scene.scratch.groups[k].slices.size();
  }
  CHECK(encoded == 3);
}

TEST_CASE("A pair that cannot be scored is told with the row that it has in its request") {
  Scoring scene;
  const auto first = scene.texts({"a", "bad"});
  const auto second = scene.texts({"skipped", "bb", "bad", "cc"});
  scene.score({Scoring::whole(first), {second, 1, 3}});
  REQUIRE(first->outcome.problems.size() == 1);
  CHECK(first->outcome.problems[0].row == 1);
  REQUIRE(second->outcome.problems.size() == 1);
  CHECK(second->outcome.problems[0].row == 2);
  CHECK(std::isnan(second->outcome.score[2]));
  CHECK(second->outcome.score[3] == 2);
  CHECK(scene.counters.problems == 2);
}

TEST_CASE("Scores are put into percentiles and p-values where the model is calibrated") {
  Scoring scene;
  scene.stream.publish(fake_model(3, Calibration({1, 2, 3, 4}, {0, 0, 1})));
  const auto task = scene.texts({"aaa", "bad"});
  scene.score({Scoring::whole(task)});
  CHECK(task->outcome.percentile[0] == Approx(0.625));
  CHECK(task->outcome.p_value[0] == Approx(0.25));
  CHECK(std::isnan(task->outcome.percentile[1]));
  CHECK(task->outcome.published->number == 3);
}

TEST_CASE("Pairs that are only learned are encoded and not scored") {
  Scoring scene;
  const auto task = scene.task(request_of(Operation::kLearn, {"a", "bad"}));
  scene.score({Scoring::whole(task)});
  CHECK(task->outcome.score.empty());
  CHECK(task->outcome.published == nullptr);
  CHECK(task->outcome.problems.size() == 1);
  CHECK(scene.counters.scored == 0);
  CHECK(scene.scratch.groups[0].batch.size() == 2);
}

TEST_CASE("Candidates are ranked by themselves, and a problem of x is told once") {
  Scoring scene;
  const auto task = scene.candidates("four", {"a", "bb", "bad"});
  scene.score({{task, 0, 1}, {task, 1, 2}});
  CHECK(task->outcome.score[0] == 3);
  CHECK(task->outcome.score[1] == 2);
  CHECK(std::isnan(task->outcome.score[2]));
  REQUIRE(task->outcome.problems.size() == 1);
  CHECK(task->outcome.problems[0].row == 2);
  CHECK(scene.counters.ranked == 3);
  CHECK(scene.counters.scored == 0);
  const auto bad = scene.candidates("bad", {"a", "bb"});
  scene.score({{bad, 0, 1}, {bad, 1, 1}});
  REQUIRE(bad->outcome.problems.size() == 1);
  CHECK(bad->outcome.problems[0].row == PairProblem::kNoRow);
}

TEST_CASE("An order is passed by") {
  Scoring scene;
  const auto order = scene.task(request_of(Operation::kRefresh, {}), true);
  const auto task = scene.texts({"a"});
  scene.score({Scoring::whole(order), Scoring::whole(task)});
  CHECK(task->outcome.score == std::vector<double>{1});
  CHECK_FALSE(order->outcome.error.has_value());
  CHECK(scene.scratch.groups[0].slices.size() == 1);
}

// Scores that do not fit the calibration, for as long as the alarm needs.
std::size_t alarms_after(bool learns) {
  Scoring scene;
  std::vector<double> usual;
  for (int i = 0; i < 200; ++i) usual.push_back(100 + i);
  scene.stream.publish(fake_model(1, Calibration(usual, usual)));
  auto request = request_of(Operation::kScore, std::vector<std::string>(64, "a"));
  request.learns = learns;
  const auto task = scene.task(std::move(request));
  scene.score({Scoring::whole(task)});
  return scene.counters.drifts;
}

TEST_CASE("Pairs that are learned too are watched for drift, and others are not") {
  CHECK(alarms_after(true) == 1);
  CHECK(alarms_after(false) == 0);
}

}  // namespace
}  // namespace phsic::test
