// These tests start threads.
#include "daemon/serving/completion.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <new>
#include <thread>

#include "core/random.h"
#include "tests/daemon/stage_scene.h"

namespace phsic::test {
namespace {

std::vector<std::string> texts(std::size_t count) { return std::vector<std::string>(count, "a"); }

// Charged as a lane does it.
std::shared_ptr<Task> charged_task(StageScene& scene, Request request, bool waits) {
  auto task = scene.task(std::move(request), waits);
  task->charged = task->byte_count();
  scene.backlog.add({0, task->charged});
  return task;
}

Request score_and_learn(std::size_t rows) {
  auto request = request_of(Operation::kScore, texts(rows));
  request.learns = true;
  return request;
}

void shuffle(std::vector<std::function<void()>>& steps, Random& random) {
  for (auto i = steps.size(); i > 1; --i) std::swap(steps[i - 1], steps[random.below(i)]);
}

void run_in_threads(const std::vector<std::function<void()>>& steps, std::size_t count) {
  std::atomic<std::size_t> next{0};
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < count; ++t) {
    threads.emplace_back([&] {
      for (auto i = next++; i < steps.size(); i = next++) steps[i]();
    });
  }
  for (auto& thread : threads) thread.join();
}

TEST_CASE("A task is prepared once, then done once, in whatever order its parts end") {
  const RequestError not_kept("not_durable", "the disk is full");
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Random random(seed);
    StageScene scene;
    std::vector<std::shared_ptr<Task>> tasks;
    std::vector<bool> are_failed;
    std::vector<std::function<void()>> steps;
    for (int i = 0; i < 50; ++i) {
      const auto rows = random.below(6);
      auto request = score_and_learn(rows);
      request.learns = random.below(4) > 0;
      const bool waits = request.learns && random.below(3) > 0;
      const bool fails = waits && random.below(2) == 0;
      const auto task = charged_task(scene, std::move(request), waits);
      tasks.push_back(task);
      are_failed.push_back(fails);
      const auto cut = random.below(rows + 1);
      std::vector<Slice> slices;
      if (cut > 0) slices.push_back({task, 0, cut});
      if (cut < rows || rows == 0) slices.push_back({task, cut, rows - cut});
      for (const auto& slice : slices) {
        steps.emplace_back([&scene, slice] { scene.completion.scored(slice); });
        if (!task->request.learns) continue;
        steps.emplace_back(
            [&scene, slice] { scene.completion.sequenced(slice.task, slice.count); });
      }
      if (!waits) continue;
      steps.emplace_back([&scene, &not_kept, task, fails] {
        scene.completion.learned(task, fails ? &not_kept : nullptr);
      });
    }
    shuffle(steps, random);
    run_in_threads(steps, 1 + seed % 4);
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      const auto told = scene.caller->told(*tasks[i]);
      CHECK(told.prepared == 1);
      CHECK(told.done == 1);
      CHECK(tasks[i]->outcome.error.has_value() == are_failed[i]);
      CHECK((told.answer.find("not_durable") != std::string::npos) == are_failed[i]);
    }
    CHECK(scene.caller->late() == 0);
    CHECK(scene.backlog.waiting().bytes == 0);
    CHECK(scene.listener.scored() == tasks.size());
  }
}

TEST_CASE("The last two parts of a task may end at the same moment") {
  const RequestError not_kept("not_durable", "the disk is full");
  for (int round = 0; round < 2000; ++round) {
    StageScene scene;
    const auto task = charged_task(scene, score_and_learn(3), true);
    scene.completion.sequenced(task, 3);
    std::atomic<int> ready{0};
    const auto together = [&ready] {
      ++ready;
      while (ready < 2) std::this_thread::yield();
    };
    std::thread worker([&] {
      together();
      scene.completion.scored(StageScene::whole(task));
    });
    together();
    scene.completion.learned(task, round % 2 == 0 ? &not_kept : nullptr);
    worker.join();
    REQUIRE(scene.caller->told(*task).done == 1);
    REQUIRE(scene.caller->told(*task).prepared == 1);
    REQUIRE(scene.caller->told(*task).rows_left == 0);
    REQUIRE(scene.backlog.waiting().bytes == 0);
  }
}

TEST_CASE("A task that waits for the learner lets go of its pairs once they are of no more use") {
  const bool scored_first = GENERATE(true, false);
  StageScene scene;
  const auto task = charged_task(scene, score_and_learn(100), true);
  const auto whole = StageScene::whole(task);
  const auto before = scene.backlog.waiting().bytes;
  const auto score = [&] { scene.completion.scored(whole); };
  const auto sequence = [&] { scene.completion.sequenced(task, 100); };
  scored_first ? score() : sequence();
  CHECK(task->request.pairs.size() == 100);
  CHECK(scene.backlog.waiting().bytes == before);
  scored_first ? sequence() : score();
  CHECK(task->request.pairs.size() == 0);
  // The scores are still there: three numbers and a decision for each pair.
  CHECK(task->outcome.score.size() == 100);
  CHECK(scene.backlog.waiting().bytes == sizeof(Task) + 100 * (3 * sizeof(double) + 2));
  CHECK_FALSE(scene.caller->is_done(*task));
  scene.completion.learned(task);
  CHECK(scene.caller->is_done(*task));
  CHECK(scene.backlog.waiting().bytes == 0);
}

TEST_CASE("A task that nobody waits for has its pairs until it is done") {
  StageScene scene;
  const auto task = charged_task(scene, score_and_learn(5), false);
  scene.completion.scored(StageScene::whole(task));
  CHECK_FALSE(scene.caller->is_done(*task));
  scene.completion.sequenced(task, 5);
  CHECK(scene.caller->told(*task).rows_left == 5);
  CHECK(scene.backlog.waiting().bytes == 0);
}

TEST_CASE("An error is the answer, whatever was scored, and the first one is told") {
  StageScene scene;
  const auto task = scene.task(score_and_learn(2), true);
  scene.completion.sequenced(task, 2);
  scene.completion.fail(StageScene::whole(task), "the encoder is broken");
  scene.completion.scored(StageScene::whole(task));
  const RequestError late("not_durable", "the disk is full");
  scene.completion.learned(task, &late);
  const auto told = scene.caller->told(*task);
  CHECK(told.answer.find(R"("code":"failed")") != std::string::npos);
  CHECK(told.answer.find("broken") != std::string::npos);
  CHECK(told.answer.find("scores") == std::string::npos);
  REQUIRE(task->outcome.problems.size() == 2);
  CHECK(task->outcome.problems[1].row == 1);
  CHECK(scene.counters.failed == 1);
  CHECK(scene.listener.events().find("the encoder is broken") != std::string::npos);
}

TEST_CASE("An error after the scores were encoded is the answer all the same") {
  StageScene scene;
  const auto task = scene.task(score_and_learn(2), true);
  scene.completion.sequenced(task, 2);
  scene.completion.scored(StageScene::whole(task));
  REQUIRE(scene.caller->told(*task).scores.find("scores") != std::string::npos);
  const RequestError late("not_durable", "the disk is full");
  scene.completion.learned(task, &late);
  const auto answer = scene.caller->told(*task).answer;
  CHECK(answer.starts_with(R"({"ok":false)"));
  CHECK(answer.find("the disk is full") != std::string::npos);
}

TEST_CASE("A task whose answer there is no memory for gets a short one") {
  StageScene scene;
  const bool by_feed = GENERATE(true, false);
  if (by_feed) {
    scene.listener.when_scored = [](const Task&) { throw std::bad_alloc(); };
  } else {
    scene.caller->when_prepared = [](Task&) { throw std::bad_alloc(); };
  }
  const auto task = charged_task(scene, request_of(Operation::kScore, texts(3)), false);
  scene.completion.scored(StageScene::whole(task));
  const auto told = scene.caller->told(*task);
  CHECK(told.done == 1);
  CHECK(told.prepared == 0);
  CHECK(told.answer.find("not enough memory") != std::string::npos);
  CHECK(task->outcome.score.empty());
  CHECK(scene.backlog.waiting().bytes == 0);
}

TEST_CASE("Problems are told in the order of their rows, whichever was found first") {
  StageScene scene;
  const auto task = scene.task(request_of(Operation::kScore, texts(6)));
  scene.completion.fail({task, 4, 2}, "broken");
  scene.completion.scored({task, 4, 2});
  CHECK_FALSE(scene.caller->is_done(*task));
  scene.completion.fail({task, 0, 4}, "broken");
  scene.completion.scored({task, 0, 4});
  REQUIRE(task->outcome.problems.size() == 6);
  for (std::size_t i = 0; i < 6; ++i) CHECK(task->outcome.problems[i].row == i);
  // A request that failed twice is one that failed.
  CHECK(scene.counters.failed == 1);
}

TEST_CASE("A request to learn is told what was learned, and how many pairs until the next model") {
  StageScene scene;
  scene.counters.until_refresh = 100;
  scene.backlog.add({30, 0});
  const auto tell = [&] {
    const auto task = scene.task(request_of(Operation::kLearn, texts(5)));
    task->learned = 3;
    task->duplicates = 2;
    scene.completion.sequenced(task, 5);
    scene.completion.scored(StageScene::whole(task));
    return task;
  };
  const auto task = tell();
  CHECK(task->outcome.learned == 3);
  CHECK(task->outcome.duplicates == 2);
  CHECK(task->outcome.until_refresh == 70);
  scene.backlog.add({100, 0});
  CHECK(tell()->outcome.until_refresh == 1);
  scene.counters.until_refresh = UINT64_MAX;
  CHECK_FALSE(tell()->outcome.until_refresh.has_value());
}

TEST_CASE("A request for a model is told of the one in use when the request is done") {
  StageScene scene;
  scene.counters.learned = 512;
  const auto task = scene.task(request_of(Operation::kRefresh, {}), true);
  scene.completion.scored(StageScene::whole(task));
  scene.stream.publish(fake_model(7));
  scene.completion.learned(task);
  REQUIRE(task->outcome.published != nullptr);
  CHECK(task->outcome.published->number == 7);
  CHECK(task->outcome.pairs == 512);
}

TEST_CASE("A source that waits hears of room when a task is done") {
  StageScene scene;
  const auto source = std::make_shared<FakeCaller>("source", FakeCaller::Kind::kSource);
  scene.sources.add(source);
  const auto task = scene.task(request_of(Operation::kScore, texts(1)));
  scene.completion.scored(StageScene::whole(task));
  CHECK(source->room() == 1);
}

}  // namespace
}  // namespace phsic::test
