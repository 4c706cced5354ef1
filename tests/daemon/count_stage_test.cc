// Starts threads: one that answers, and one for the background.
#include "daemon/serving/count_stage.h"

#include <catch2/catch.hpp>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/daemon/stage_scene.h"

namespace phsic::test {
namespace {

// A pair's score is the number of pairs before it; "bad" texts cannot be counted.
class FakeCountStream : public FakeStream, private PairCounter {
 public:
  std::vector<float> counted;  // x of the pairs
  std::vector<double> times;
  std::size_t memory = SIZE_MAX;  // so many rows of a batch

  [[nodiscard]] PairCounter* counter() override { return this; }
  [[nodiscard]] std::uint64_t pairs() const override { return counted.size(); }

 private:
  [[nodiscard]] std::size_t score_and_learn(Batch& batch, const double* at) override {
    batch.published = published();
    batch.scores.assign(batch.size(), 0);
    const auto x = std::get<DenseRows<float>>(batch.x.view());
    std::size_t row = 0;
    for (; row < std::min(batch.size(), memory); ++row) {
      batch.scores[row] = static_cast<double>(counted.size());
      if (!batch.usable[row]) continue;
      counted.push_back(*x.row(row));
      times.push_back(at[row]);
    }
    return row;
  }
};

// Pairs are what a test says of them.
StreamSettings open_settings() {
  StreamSettings settings;
  settings.spec.counts = true;
  settings.decide.set("rules", "none");
  return settings;
}

// A stage and all that is around it. Everything is offered before it runs.
struct Counting {
  explicit Counting(SeenIds ids = SeenIds(100), const StreamSettings& how = open_settings())
      : settings(how), seen(std::move(ids)) {}

  std::shared_ptr<FakeCaller> caller = std::make_shared<FakeCaller>();
  FakeListener listener;
  StreamSettings settings;
  SeenIds seen;
  LaneParts parts{settings, std::make_unique<FakeCountStream>(), Recovery(10), nullptr, listener};
  FakeCountStream& stream = dynamic_cast<FakeCountStream&>(*parts.stream);

  [[nodiscard]] std::shared_ptr<Task> add(Request request, bool waits = false) {
    auto task = std::make_shared<Task>(std::move(request), lent(caller));
    task->waits_for_learner = waits;
    Completion::begin(*task);
    make_columns(*task);
    if (task->request.learns) parts.unlearned.add({task->request.pairs.size(), 0});
    parts.queue.push(task);
    return task;
  }
  void run(std::size_t most_pairs = 100) {
    LearnedTasks tasks(nullptr, parts.completion);
    Snapshots snapshots(stream, nullptr, parts.background, parts.drift, parts.counters,
                        parts.decisions, parts.completion, parts.reporter, [] {});
    AnswerStage answers(most_pairs, parts.completion);
    CountStage stage(parts, std::move(seen), snapshots, tasks, answers);
    parts.queue.close();
    stage.run({most_pairs, 1'000'000});
  }
};

Request counted_request(const std::vector<std::string>& x,
                        const std::vector<std::string>& ids = {}) {
  auto request = request_of(Operation::kScore, x);
  request.learns = true;
  request.arrival_time = 7;
  request.pairs.ids = ids;
  return request;
}

TEST_CASE("Every pair is scored by all pairs before it, whatever the size of the batches") {
  const auto most = GENERATE(1, 2, 100);
  Counting scene;
  const auto first = scene.add(counted_request({"a", "bb", "ccc"}));
  const auto second = scene.add(counted_request({"dddd"}));
  scene.run(static_cast<std::size_t>(most));
  CHECK(first->outcome.score == std::vector<double>{0, 1, 2});
  CHECK(second->outcome.score == std::vector<double>{3});
  CHECK(scene.stream.counted == std::vector<float>{1, 2, 3, 4});
  CHECK(scene.stream.times == std::vector<double>{7, 7, 7, 7});
  CHECK(first->outcome.learned == 3);
  CHECK(scene.parts.counters.learned == 4);
  CHECK(scene.parts.unlearned.waiting().pairs == 0);
  CHECK(scene.listener.scored() == 2);
  CHECK(scene.caller->done_count() == 2);
}

TEST_CASE("A pair is counted once, though its id comes again in one batch or later") {
  SeenIds seen(100);
  seen.add(hash_id("before"));
  Counting scene(std::move(seen));
  const auto task =
      scene.add(counted_request({"a", "bb", "ccc", "dddd"}, {"one", "before", "one", "two"}));
  const auto again = scene.add(counted_request({"a"}, {"two"}));
  scene.run();
  CHECK(scene.stream.counted == std::vector<float>{1, 4});
  CHECK(task->outcome.learned == 2);
  CHECK(task->outcome.duplicates == 2);
  CHECK(again->outcome.duplicates == 1);
  CHECK(scene.parts.counters.duplicates == 3);
  // It is scored all the same.
  CHECK(again->outcome.score == std::vector<double>{2});
}

TEST_CASE("Pairs that are only scored are not counted, and those of no use are refused") {
  Counting scene;
  const auto scored = scene.add(request_of(Operation::kScore, {"a", "bb"}));
  const auto bad = scene.add(counted_request({"bad", "ccc"}));
  scene.run();
  CHECK(scored->outcome.score == std::vector<double>{0, 0});
  CHECK(scene.stream.counted == std::vector<float>{3});
  CHECK(scene.parts.counters.refused == 1);
  CHECK(bad->outcome.learned == 1);
  REQUIRE(bad->outcome.problems.size() == 1);
  CHECK(bad->outcome.problems[0].row == 0);
}

TEST_CASE("Without memory for a pair it and those after it fail, and are not noted as seen") {
  Counting scene;
  scene.stream.memory = 1;
  const auto task = scene.add(counted_request({"a", "bb", "ccc"}, {"one", "two", "three"}));
  scene.run();
  CHECK(scene.stream.counted == std::vector<float>{1});
  CHECK(task->outcome.learned == 1);
  CHECK(task->outcome.duplicates == 0);
  REQUIRE(task->outcome.error.has_value());
  CHECK(task->outcome.score[0] == 0);
  CHECK(std::isnan(task->outcome.score[2]));
  CHECK(scene.parts.counters.learned == 1);
}

TEST_CASE("A task that waits to be counted is done when it is, and an order after it") {
  Counting scene;
  const auto task = scene.add(counted_request({"a", "bb"}), true);
  Request order;
  order.operation = Operation::kSnapshot;
  const auto snapshot = scene.add(std::move(order), true);
  scene.run(1);
  CHECK(scene.caller->told(*task).done == 1);
  CHECK(scene.caller->late() == 0);
  // There is no journal to take one of.
  REQUIRE(snapshot->outcome.error.has_value());
  CHECK(snapshot->outcome.error->code() == "not_durable");
}

TEST_CASE("Pairs are decided about before their scores are told") {
  Counting scene;
  scene.stream.publish(
      std::make_shared<const PublishedModel>(PublishedModel{0, nullptr, false, 0, 4}));
  std::vector<ReasonCode> told;
  scene.listener.when_scored = [&](const Task& task) { told = task.outcome.reason; };
  // Scores of 0 to 4.
  const auto task = scene.add(counted_request({"a", "b", "c", "d", "e"}));
  scene.run();
  using reasons::kCut;
  CHECK(told == std::vector<ReasonCode>{kCut, kCut, kCut, kCut, reasons::kNone});
  CHECK(scene.parts.counters.taught[Verdict::kDrop] == 4);
  CHECK(scene.parts.counters.taught[Verdict::kKeep] == 1);
  CHECK(scene.parts.decisions.memory().counts().reasons.at(kCut) == 4);
}

TEST_CASE("A pair that breaks a rule is scored, dropped and not counted") {
  auto settings = open_settings();
  settings.decide.set("rules", "no_empty");
  Counting scene(SeenIds(100), settings);
  auto request = counted_request({"a", "bb", "ccc"});
  request.pairs.y = {"b", "", "b"};
  const auto task = scene.add(std::move(request));
  scene.run();
  CHECK(scene.stream.counted == std::vector<float>{1, 3});
  CHECK(task->outcome.score == std::vector<double>{0, 1, 1});
  CHECK(task->outcome.learned == 2);
  CHECK(task->outcome.not_learned == 1);
  CHECK(task->outcome.decision(1).verdict == Verdict::kDrop);
  CHECK(name_of_reason(task->outcome.reason[1]) == "no_empty(right)");
  CHECK(scene.parts.counters.rejected == 1);
  CHECK(scene.parts.decisions.memory().counts().rejected == 1);
}

}  // namespace
}  // namespace phsic::test
