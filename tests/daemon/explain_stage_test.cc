// These tests start threads.
#include "daemon/serving/explain_stage.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <new>

#include "tests/daemon/stage_scene.h"

namespace phsic::test {
namespace {

struct Explaining : StageScene {
  std::atomic<bool> hold{false};
  std::unique_ptr<Background> background = std::make_unique<Background>([] {});
  DecideStage decide{plan, counters};
  ExplainStage stage{stream, 1'000'000, *background, decide, dropped, counters, completion};

  ~Explaining() { end(); }
  // Waits for all that was accepted.
  void end() {
    hold = false;
    hold.notify_all();
    if (background != nullptr) background->close();
    background = nullptr;
  }
  // Explains one pair, and returns its task.
  std::shared_ptr<Task> explain(std::function<std::optional<PairExplanation>()> how) {
    stream.explanation = std::move(how);
    const auto asked = task(request_of(Operation::kExplain, {"a"}));
    REQUIRE(stage.offer(asked));
    caller->wait_for(*asked);
    return asked;
  }
};

TEST_CASE("What explains a score is told") {
  Explaining scene;
  const auto task = scene.explain([] {
    PairExplanation found;
    found.score = 1.5;
    found.published = fake_model(4);
    return found;
  });
  REQUIRE(task->outcome.explanation.has_value());
  CHECK(task->outcome.explanation->score == 1.5);
  CHECK(scene.caller->told(*task).done == 1);
  CHECK(scene.caller->told(*task).answer.starts_with(
      R"({"ok":true,"decision":"undecided","reason":"no_model","score":1.5)"));
}

TEST_CASE("A pair that was dropped is told by its id, with the numbers as they were") {
  Explaining scene;
  auto request = request_of(Operation::kScore, {"a"});
  request.pairs.ids = {"7"};
  const auto dropped = scene.task(std::move(request));
  dropped->outcome.score = {-2};
  dropped->outcome.decide(0, {Verdict::kDrop, reasons::kCut});
  scene.dropped.add(*dropped);
  const auto ask = [&](const std::string& id) {
    auto wanted = request_of(Operation::kExplain, {});
    wanted.pair_id = id;
    const auto asked = scene.task(std::move(wanted));
    REQUIRE(scene.stage.offer(asked));
    scene.caller->wait_for(*asked);
    return scene.caller->told(*asked).answer;
  };
  // Without a model there is nothing more to say.
  CHECK(ask("7").starts_with(
      R"({"ok":true,"dropped":{"id":7,"decision":"drop","reason":"cut","score":-2)"));
  CHECK(ask("8").find("unknown_pair") != std::string::npos);
}

TEST_CASE("Without a model, for a pair without a score, and without memory there is an error") {
  Explaining scene;
  const auto code = [](const std::shared_ptr<Task>& task) {
    REQUIRE(task->outcome.error.has_value());
    CHECK_FALSE(task->outcome.explanation.has_value());
    return task->outcome.error->code();
  };
  CHECK(code(scene.explain([] { return std::nullopt; })) == "not_ready");
  CHECK(scene.counters.failed == 0);
  const auto bad = scene.explain([] {
    PairExplanation found;
    found.problem = "a bad text";
    return found;
  });
  CHECK(code(bad) == "bad_request");
  CHECK(std::string(bad->outcome.error->what()) == "a bad text");
  const auto failed =
      scene.explain([]() -> std::optional<PairExplanation> { throw std::bad_alloc(); });
  CHECK(code(failed) == "failed");
  CHECK(scene.counters.failed == 1);
}

TEST_CASE("No more than 64 requests wait to be explained, and all of them are answered") {
  Explaining scene;
  scene.hold = true;
  scene.stream.explanation = [&]() -> std::optional<PairExplanation> {
    scene.hold.wait(true);
    return std::nullopt;
  };
  const auto make = [&] { return scene.task(request_of(Operation::kExplain, {"a"})); };
  std::size_t accepted = 0;
  while (accepted < 1000 && scene.stage.offer(make())) ++accepted;
  CHECK(accepted == 64);
  scene.end();
  CHECK(scene.caller->done_count() == 64);
}

TEST_CASE("No more bytes wait to be explained than may, but for a single request") {
  Explaining scene;
  scene.hold = true;
  scene.stream.explanation = [&]() -> std::optional<PairExplanation> {
    scene.hold.wait(true);
    return std::nullopt;
  };
  const auto make = [&] { return scene.task(request_of(Operation::kExplain, {"a"})); };
  scene.stage.set_limit(1);
  CHECK(scene.stage.offer(make()));
  CHECK_FALSE(scene.stage.offer(make()));
  scene.stage.set_limit(1'000'000);
  CHECK(scene.stage.offer(make()));
}

}  // namespace
}  // namespace phsic::test
