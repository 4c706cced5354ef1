// These tests start threads: those of a real state writer.
#include "daemon/serving/learned_tasks.h"

#include <sqlite3.h>

#include <catch2/catch.hpp>
#include <memory>

#include "tests/daemon/stage_scene.h"
#include "tests/state/failing_disk.h"
#include "tests/state/recorder.h"

namespace phsic::test {
namespace {

// A task that waits for the learner only, or for the disk as well. Its pairs have been scored.
std::shared_ptr<Task> learned_task(StageScene& scene, bool is_durable) {
  auto task = scene.task(request_of(Operation::kLearn, {"a"}), true);
  task->outcome.is_durable = is_durable;
  scene.completion.scored(StageScene::whole(task));
  scene.completion.sequenced(task, 1);
  CHECK_FALSE(scene.caller->is_done(*task));
  return task;
}

// Tasks of a stream with a journal in a file.
struct Keeping : StageScene {
  StateFolder folder;
  FailingDisk disk;
  StateLock lock{folder.path("state.db")};
  StateWriter writer{lock, folder.path("state.db"), {}, [](bool, const std::string&) {}};
  StreamJournal journal{writer, "chat", "identity", "{}", {}, Recovery(10)};
  LearnedTasks tasks{&journal, completion};
};

TEST_CASE("Without a promise a task is done when it is learned, with a journal or without") {
  Keeping scene;
  const auto kept = learned_task(scene, false);
  scene.tasks.add(kept);
  CHECK(scene.caller->is_done(*kept));
  LearnedTasks none(nullptr, scene.completion);
  const auto task = learned_task(scene, false);
  none.add(task);
  CHECK(scene.caller->is_done(*task));
  none.flush();
  CHECK(scene.caller->done_count() == 2);
}

TEST_CASE("A task that was promised to be durable is done when its pairs are on the disk") {
  Keeping scene;
  const auto task = learned_task(scene, true);
  scene.journal.add("a", "", 1, kNoId);
  scene.tasks.add(task);
  CHECK_FALSE(scene.caller->is_done(*task));
  const auto bytes = scene.writer.bytes();
  scene.tasks.flush();
  scene.caller->wait_for(*task);
  CHECK_FALSE(task->outcome.error.has_value());
  CHECK(scene.writer.bytes() > bytes);
  CHECK(scene.caller->told(*task).done == 1);
}

TEST_CASE("A promise that the disk breaks is told as such") {
  Keeping scene;
  const auto task = learned_task(scene, true);
  scene.journal.add("a", "", 1, kNoId);
  scene.tasks.add(task);
  scene.disk.fail_with(SQLITE_FULL);
  scene.tasks.flush();
  scene.caller->wait_for(*task);
  REQUIRE(task->outcome.error.has_value());
  CHECK(task->outcome.error->code() == "not_durable");
  CHECK(std::string(task->outcome.error->what()).starts_with("the pairs were learned, but may be"));
}

TEST_CASE("A task that failed is done at once, whatever it was promised") {
  Keeping scene;
  const auto task = learned_task(scene, true);
  scene.tasks.add(task, "no model was built");
  REQUIRE(scene.caller->is_done(*task));
  REQUIRE(task->outcome.error.has_value());
  CHECK(task->outcome.error->code() == "failed");
  scene.tasks.flush();
  CHECK(scene.caller->told(*task).done == 1);
}

}  // namespace
}  // namespace phsic::test
