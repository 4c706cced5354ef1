// Starts threads.
#include "daemon/serving/answer_stage.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <thread>
#include <vector>

#include "tests/daemon/stage_scene.h"

namespace phsic::test {
namespace {

TEST_CASE("Answers are prepared in order, in a thread that is not the one that scores") {
  StageScene scene;
  std::vector<const Task*> prepared;
  std::vector<std::thread::id> threads;
  scene.caller->when_prepared = [&](Task& task) {
    prepared.push_back(&task);
    threads.push_back(std::this_thread::get_id());
  };
  std::vector<std::shared_ptr<Task>> tasks;
  AnswerStage stage(2, scene.completion);
  for (int i = 0; i < 50; ++i) {
    std::vector<Slice> slices;
    for (int k = 0; k < 2; ++k) {
      tasks.push_back(scene.task(request_of(Operation::kScore, {"a"})));
      slices.push_back(StageScene::whole(tasks.back()));
    }
    stage.hand_over(slices);
    CHECK(slices.empty());
    CHECK(slices.capacity() >= 2);
  }
  stage.finish();
  REQUIRE(prepared.size() == tasks.size());
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    CHECK(prepared[i] == tasks[i].get());
    CHECK(scene.caller->told(*tasks[i]).done == 1);
    CHECK(threads[i] != std::this_thread::get_id());
  }
}

TEST_CASE("No more than one hand-over waits for the answers of another") {
  StageScene scene;
  std::atomic<bool> may_answer{false};
  std::atomic<int> handed_over{0};
  scene.caller->when_prepared = [&](Task& /*task*/) { may_answer.wait(false); };
  AnswerStage stage(1, scene.completion);
  std::thread scoring([&] {
    for (int i = 0; i < 3; ++i) {
      std::vector<Slice> slices{
          StageScene::whole(scene.task(request_of(Operation::kScore, {"a"})))};
      stage.hand_over(slices);
      ++handed_over;
      handed_over.notify_all();
    }
  });
  handed_over.wait(0);
  // The first is being answered: the second waits, however long this takes.
  CHECK(handed_over == 1);
  CHECK(scene.caller->done_count() == 0);
  may_answer = true;
  may_answer.notify_all();
  scoring.join();
  stage.finish();
  CHECK(scene.caller->done_count() == 3);
}

TEST_CASE("What was handed over is answered before the stage ends") {
  StageScene scene;
  {
    AnswerStage stage(1, scene.completion);
    std::vector<Slice> slices{StageScene::whole(scene.task(request_of(Operation::kScore, {"a"})))};
    stage.hand_over(slices);
  }
  CHECK(scene.caller->done_count() == 1);
}

}  // namespace
}  // namespace phsic::test
