// These tests start threads.
#include "daemon/serving/model_builder.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <new>

#include "tests/daemon/stage_scene.h"

namespace phsic::test {
namespace {

struct Building : StageScene {
  // Nothing hangs when a test fails.
  ~Building() {
    hold = false;
    hold.notify_all();
    background.close();
  }

  std::atomic<bool> hold{false};  // models are not finished
  std::atomic<int> built{0};
  Background background{[] {}};
  LearnedTasks tasks{nullptr, completion};
  ModelBuilder builder{stream, nullptr, nullptr, 0, background, counters, tasks, reporter, [this] {
                         ++built;
                         built.notify_all();
                       }};

  Building() {
    stream.when_built = [this] { hold.wait(true); };
  }
  void learn(std::size_t count) {
    const std::vector<float> values(count, 1.0F);
    LearnBatch batch;
    batch.x = DenseRows<float>{values.data(), count, 1};
    batch.y = batch.x;
    for (std::size_t row = 0; row < count;) {
      row = builder.learn(batch, row);
      builder.begin_if_due();
    }
  }
  [[nodiscard]] std::shared_ptr<Task> ask(bool all = false) {
    auto request = request_of(Operation::kRefresh, {});
    request.all = all;
    const auto asked = task(std::move(request), true);
    completion.scored(whole(asked));
    builder.add(asked);
    return asked;
  }
  // Lets the model on its way be built, and brings it into use.
  void finish_one() {
    const auto before = adopted++;
    hold = false;
    hold.notify_all();
    for (int now = built; now <= before; now = built) built.wait(now);
    hold = true;
    REQUIRE(builder.is_built());
    builder.adopt();
  }
  int adopted = 0;
};

TEST_CASE("One model answers all requests from before it was begun, and the next one all others") {
  Building scene;
  scene.hold = true;
  scene.learn(10);
  const auto first = scene.ask();
  CHECK(scene.builder.is_building());
  std::vector<std::shared_ptr<Task>> partial;
  std::vector<std::shared_ptr<Task>> whole;
  for (int i = 0; i < 5; ++i) {
    partial.push_back(scene.ask());
    whole.push_back(scene.ask(true));
  }
  CHECK(scene.stream.frozen().size() == 1);
  scene.learn(5);
  scene.finish_one();
  CHECK(scene.caller->done_count() == 1);
  CHECK(scene.caller->is_done(*first));
  CHECK(scene.stream.adopted() == 10);
  CHECK_FALSE(scene.builder.is_building());

  scene.builder.begin_asked();
  scene.finish_one();
  CHECK(scene.caller->done_count() == 6);
  for (const auto& task : partial) CHECK(scene.caller->is_done(*task));
  CHECK(scene.stream.adopted() == 15);

  // The last one that was asked for stays in use.
  scene.builder.begin_asked();
  scene.finish_one();
  CHECK(scene.caller->done_count() == 11);
  CHECK(scene.stream.frozen() ==
        std::vector{PairExtent::kWithoutHeldBack, PairExtent::kWithoutHeldBack, PairExtent::kAll});
  CHECK(scene.counters.refreshes == 3);
  CHECK(scene.listener.events_of<RefreshEvent>().size() == 3);
  scene.builder.begin_asked();
  CHECK_FALSE(scene.builder.is_building());
}

TEST_CASE("A task that waits with a model is done when the model is in use") {
  Building scene;
  scene.hold = true;
  scene.stream.refresh_pairs = 10;
  scene.learn(10);
  REQUIRE(scene.builder.is_building());
  const auto task = scene.task(request_of(Operation::kLearn, {"a"}), true);
  scene.completion.scored(Building::whole(task));
  scene.completion.sequenced(task, 1);
  scene.builder.wait_with(task);
  CHECK_FALSE(scene.caller->is_done(*task));
  scene.finish_one();
  CHECK(scene.caller->is_done(*task));
  CHECK_FALSE(task->outcome.error.has_value());
}

TEST_CASE("A model is begun after so many pairs, and learning goes on while it is built") {
  Building scene;
  scene.hold = true;
  scene.stream.refresh_pairs = 10;
  scene.learn(9);
  CHECK_FALSE(scene.builder.is_building());
  CHECK(scene.counters.until_refresh == 1);
  scene.learn(30);
  CHECK(scene.builder.is_building());
  CHECK(scene.stream.pairs() == 39);
  CHECK(scene.stream.frozen().size() == 1);
  scene.finish_one();
  CHECK(scene.stream.adopted() == 10);
}

TEST_CASE("A model is begun by time if anything was learned, and not before the time has come") {
  Building scene;
  scene.hold = true;
  const auto later = [] { return std::chrono::steady_clock::now() + std::chrono::minutes(30); };
  scene.builder.set_schedule(1e-6, 0);
  scene.builder.begin_by_time();
  CHECK_FALSE(scene.builder.is_building());
  CHECK(scene.builder.next_look() > later());
  scene.learn(5);
  scene.builder.set_schedule(0, 0);
  CHECK(scene.builder.next_look() > later());
  scene.builder.set_schedule(600, 0);
  scene.builder.begin_by_time();
  CHECK_FALSE(scene.builder.is_building());
  CHECK(scene.builder.next_look() < later());
  scene.builder.set_schedule(1e-6, 0);
  scene.builder.begin_by_time();
  CHECK(scene.builder.is_building());
  CHECK(scene.builder.next_look() > later());
  scene.finish_one();
  scene.builder.begin_by_time();
  CHECK_FALSE(scene.builder.is_building());
}

TEST_CASE("A request is told that its model could not be begun, and the old one stays") {
  Building scene;
  scene.stream.when_frozen = [] { throw std::bad_alloc(); };
  scene.learn(5);
  const auto task = scene.ask();
  CHECK(scene.caller->told(*task).answer.find("not enough memory") != std::string::npos);
  CHECK_FALSE(scene.builder.is_building());
  CHECK(scene.counters.failed == 1);
  CHECK(scene.counters.refreshes == 1);
  CHECK(scene.listener.events().find("no model was built") != std::string::npos);
  CHECK(scene.stream.published()->number == 0);
  scene.stream.when_frozen = {};
  const auto again = scene.ask();
  scene.finish_one();
  CHECK_FALSE(again->outcome.error.has_value());
}

TEST_CASE("A request is told that its model could not be built, and the next one can be") {
  Building scene;
  scene.stream.when_built = [] { throw Error("no such number"); };
  scene.learn(5);
  const auto task = scene.ask();
  scene.finish_one();
  REQUIRE(task->outcome.error.has_value());
  CHECK(std::string(task->outcome.error->what()) == "no such number");
  CHECK(scene.stream.published()->number == 0);
  CHECK(scene.listener.events_of<RefreshEvent>().empty());
  CHECK(scene.counters.failed == 1);
  scene.stream.when_built = {};
  const auto again = scene.ask();
  scene.finish_one();
  CHECK_FALSE(again->outcome.error.has_value());
  CHECK(scene.stream.published()->number == 1);
}

TEST_CASE("A model that the stream refuses is given up, and the next one can be built") {
  Building scene;
  scene.stream.when_adopted = [] { throw Error("the pivots do not fit"); };
  scene.learn(5);
  const auto task = scene.ask();
  scene.finish_one();
  REQUIRE(task->outcome.error.has_value());
  CHECK(std::string(task->outcome.error->what()) == "the pivots do not fit");
  CHECK_FALSE(scene.builder.is_building());
  scene.stream.when_adopted = {};
  const auto again = scene.ask();
  scene.finish_one();
  CHECK_FALSE(again->outcome.error.has_value());
}

TEST_CASE("A stream that may have taken half of a model does not go on learning") {
  Building scene;
  scene.stream.when_adopted = [] { throw std::bad_alloc(); };
  scene.learn(5);
  const auto task = scene.ask();
  CHECK_THROWS_AS(scene.finish_one(), std::bad_alloc);
  CHECK_FALSE(scene.caller->is_done(*task));
}

TEST_CASE("In the end everything that was asked for is built") {
  Building scene;
  scene.hold = true;
  scene.learn(5);
  std::vector<std::shared_ptr<Task>> asked;
  for (int i = 0; i < 6; ++i) asked.push_back(scene.ask(i % 2 == 0));
  scene.hold = false;
  scene.hold.notify_all();
  scene.builder.finish();
  for (const auto& task : asked) CHECK(scene.caller->is_done(*task));
  CHECK(scene.stream.published()->number == 3);
}

TEST_CASE("A model that was begun before the daemon ended is built and comes into use") {
  Building scene;
  scene.learn(5);
  ModelBuilder builder(scene.stream, nullptr, scene.stream.freeze(PairExtent::kAll), 0,
                       scene.background, scene.counters, scene.tasks, scene.reporter, [] {});
  CHECK(builder.is_building());
  builder.finish();
  CHECK(scene.stream.published()->number == 1);
}

}  // namespace
}  // namespace phsic::test
