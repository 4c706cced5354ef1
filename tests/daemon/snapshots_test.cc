// Starts threads.
#include "daemon/serving/snapshots.h"

#include <sqlite3.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <new>
#include <thread>

#include "tests/daemon/kept_scene.h"

namespace phsic::test {
namespace {

struct Taking : KeptScene {
  explicit Taking(const StreamJournal::Options& options = {}) : KeptScene(options) {
    stream.when_copied = [this] { ++copies; };
    stream.when_saved = [this] { hold.wait(true); };
  }
  // Nothing hangs when a test fails.
  ~Taking() {
    release();
    background.close();
    background.join();
    static_cast<void>(settle());
    journal.set_waker({});
  }

  std::atomic<bool> hold{false};  // snapshots are not written
  std::atomic<int> copies{0};     // snapshots begun
  std::atomic<int> woken{0};
  Snapshots snapshots{
      stream, &journal, background, drift, counters, decisions, completion, reporter, [this] {
        ++woken;
        woken.notify_all();
      }};

  void release() {
    hold = false;
    hold.notify_all();
  }
  [[nodiscard]] std::shared_ptr<Task> ask() {
    const auto task = order(Operation::kSnapshot);
    snapshots.add(task);
    return task;
  }
  // Learns a pair, and notes it down.
  void learn() {
    const float x = 1;
    LearnBatch batch;
    batch.x = DenseRows<float>{&x, 1, 1};
    batch.y = batch.x;
    stream.learn(batch, 0, false);
    journal.add("a", "", 1, kNoId);
    journal.flush();
  }
  // Until so many snapshots have come to an end.
  void wait_for_wakes(int count) const {
    for (int now = woken; now < count; now = woken) woken.wait(now);
  }
};

bool is_far(std::chrono::steady_clock::time_point time) {
  return time > std::chrono::steady_clock::now() + std::chrono::minutes(30);
}

TEST_CASE("Who asks for a snapshot where nothing is kept is told so") {
  Taking scene;
  Snapshots none(scene.stream, nullptr, scene.background, scene.drift, scene.counters,
                 scene.decisions, scene.completion, scene.reporter, [] {});
  CHECK(is_far(none.next_look()));
  const auto task = scene.order(Operation::kSnapshot);
  none.add(task);
  none.take_if_due();
  REQUIRE(scene.caller->is_done(*task));
  REQUIRE(task->outcome.error.has_value());
  CHECK(task->outcome.error->code() == "not_durable");
  const auto last = scene.order(Operation::kSnapshot);
  none.add(last);
  none.finish();
  CHECK(scene.caller->is_done(*last));
  none.take_if_due();
  // Both were told once.
  CHECK(task->parts_left == 0);
  CHECK(last->parts_left == 0);
  CHECK(scene.copies == 0);
}

TEST_CASE("One snapshot is written at a time, and the next one is for all who asked meanwhile") {
  Taking scene;
  scene.hold = true;
  scene.learn();
  const auto first = scene.ask();
  scene.snapshots.take_if_due();
  CHECK(scene.copies == 1);
  const auto second = scene.ask();
  const auto third = scene.ask();
  scene.learn();
  scene.snapshots.take_if_due();
  CHECK(scene.copies == 1);
  CHECK(is_far(scene.snapshots.next_look()));
  CHECK(scene.caller->done_count() == 0);

  scene.release();
  scene.wait_for_wakes(1);
  CHECK(scene.caller->done_count() == 1);
  CHECK_FALSE(first->outcome.error.has_value());
  CHECK(first->outcome.pairs == 1);
  CHECK(first->outcome.snapshot_bytes > 0);
  scene.snapshots.take_if_due();
  scene.wait_for_wakes(2);
  CHECK(scene.copies == 2);
  CHECK(scene.caller->done_count() == 3);
  for (const auto& task : {second, third}) {
    CHECK_FALSE(task->outcome.error.has_value());
    CHECK(task->outcome.pairs == 2);
  }
  CHECK(scene.journal.snapshots() == 2);
}

TEST_CASE("A snapshot is taken without being asked for when it is due, and not before") {
  Taking scene({0, 1});
  scene.snapshots.take_if_due();
  REQUIRE(scene.copies == 0);
  CHECK(is_far(scene.snapshots.next_look()));
  scene.learn();
  CHECK_FALSE(is_far(scene.snapshots.next_look()));
  scene.snapshots.take_if_due();
  REQUIRE(scene.copies == 1);
  scene.wait_for_wakes(1);
  CHECK(scene.journal.snapshots() == 1);
  scene.snapshots.take_if_due();
  CHECK(scene.copies == 1);
}

TEST_CASE("A snapshot has what was learned and counted when it was taken, and nothing later") {
  Taking scene;
  scene.hold = true;
  scene.learn();
  scene.counters.scored = 7;
  static_cast<void>(scene.ask());
  scene.snapshots.take_if_due();
  scene.learn();
  scene.counters.scored = 8;
  scene.release();
  scene.wait_for_wakes(1);
  const StateFile file(scene.folder.path("state.db"), Database::Access::kRead);
  const auto records = file.snapshots(file.find("chat")->id);
  REQUIRE(records.size() == 1);
  ServingState serving(KeptScene::kIds);
  FakeStream restored;
  CHECK(open_snapshot(file.snapshot(records[0]), serving, restored).pairs == 1);
  CHECK(restored.learned() == std::vector<float>{1});
  CHECK(serving.counters.at("scored") == 7);
}

TEST_CASE("In the end there is a last snapshot if there is anything new, and none otherwise") {
  Taking scene;
  scene.snapshots.finish();
  CHECK(scene.copies == 0);
  scene.learn();
  scene.snapshots.finish();
  CHECK(scene.journal.snapshots() == 1);
  CHECK_FALSE(scene.journal.has_news());
  scene.snapshots.finish();
  CHECK(scene.copies == 1);
  // But for those who ask.
  const auto task = scene.ask();
  scene.snapshots.finish();
  CHECK(scene.caller->is_done(*task));
  CHECK_FALSE(task->outcome.error.has_value());
  CHECK(scene.journal.snapshots() == 2);
}

TEST_CASE("The last snapshot comes after the one that is being written") {
  Taking scene;
  scene.hold = true;
  scene.learn();
  const auto task = scene.ask();
  scene.snapshots.take_if_due();
  scene.learn();
  bool is_first_done = false;
  scene.stream.when_copied = [&] { is_first_done = scene.caller->is_done(*task); };
  std::thread other([&] { scene.release(); });
  scene.snapshots.finish();
  other.join();
  CHECK(is_first_done);
  CHECK(scene.journal.snapshots() == 2);
}

TEST_CASE("Who asked is told that there is no snapshot, it is reported, and the next one works") {
  Taking scene;
  scene.learn();
  const auto fail = GENERATE(0, 1);
  if (fail == 0) {
    scene.stream.when_copied = [] { throw std::bad_alloc(); };
  } else {
    scene.stream.when_saved = [] { throw Error("too long"); };
  }
  const auto task = scene.ask();
  scene.snapshots.take_if_due();
  scene.wait_for_wakes(1);
  REQUIRE(scene.caller->is_done(*task));
  REQUIRE(task->outcome.error.has_value());
  CHECK(task->outcome.error->code() == "not_durable");
  const std::string reason = fail == 0 ? "there is not enough memory" : "too long";
  CHECK(std::string(task->outcome.error->what()) == "there is no new snapshot: " + reason);
  CHECK(scene.listener.events().find("no snapshot was written: " + reason) != std::string::npos);
  CHECK(scene.journal.snapshots() == 0);
  scene.stream.when_copied = {};
  scene.stream.when_saved = {};
  const auto again = scene.ask();
  scene.snapshots.take_if_due();
  scene.wait_for_wakes(2);
  REQUIRE(scene.caller->is_done(*again));
  CHECK_FALSE(again->outcome.error.has_value());
  CHECK(scene.journal.snapshots() == 1);
}

TEST_CASE("Who asked is told that the disk has not taken the snapshot, and so it is reported") {
  Taking scene;
  scene.learn();
  CHECK(scene.settle().empty());
  scene.disk.fail_with(SQLITE_FULL);
  const auto task = scene.ask();
  scene.snapshots.take_if_due();
  scene.wait_for_wakes(1);
  REQUIRE(scene.caller->is_done(*task));
  REQUIRE(task->outcome.error.has_value());
  CHECK(task->outcome.error->code() == "not_durable");
  CHECK(scene.listener.events_of<FailureEvent>().size() == 1);
  CHECK(scene.journal.snapshots() == 0);
}

TEST_CASE("A snapshot that makes up for lost pairs is taken at once, by the learner itself") {
  Taking scene;
  std::atomic<bool> is_wanted{false};
  scene.journal.set_waker([&] {
    is_wanted = true;
    is_wanted.notify_all();
  });
  scene.disk.fail_with(SQLITE_FULL);
  scene.learn();
  CHECK_FALSE(scene.settle().empty());
  // Nobody has asked for it yet.
  scene.snapshots.take_if_due();
  CHECK(scene.copies == 0);
  scene.disk.mend();
  is_wanted.wait(false);
  REQUIRE(scene.journal.is_behind());
  std::thread::id saved_by;
  scene.stream.when_saved = [&] { saved_by = std::this_thread::get_id(); };
  scene.snapshots.take_if_due();
  REQUIRE(scene.copies == 1);
  scene.wait_for_wakes(1);
  CHECK(saved_by == std::this_thread::get_id());
  CHECK(scene.journal.is_keeping());
  scene.snapshots.take_if_due();
  CHECK(scene.copies == 1);
}

TEST_CASE("The last snapshot makes up for lost pairs, too, though nobody has asked for it") {
  Taking scene;
  scene.disk.fail_with(SQLITE_FULL);
  scene.learn();
  CHECK_FALSE(scene.settle().empty());
  static_cast<void>(scene.journal.begin_snapshot());  // of which nothing has come
  REQUIRE_FALSE(scene.journal.has_news());
  scene.disk.mend();
  scene.snapshots.finish();
  CHECK(scene.journal.snapshots() == 1);
  CHECK(scene.journal.is_keeping());
}

}  // namespace
}  // namespace phsic::test
