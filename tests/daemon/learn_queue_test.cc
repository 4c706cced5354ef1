// These tests start threads.
#include "daemon/serving/learn_queue.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <string>
#include <thread>

#include "tests/daemon/stage_scene.h"

namespace phsic::test {
namespace {

using Clock = std::chrono::steady_clock;

struct Learning {
  Backlog backlog{{1'000'000, 1'000'000'000}};
  LearnQueue queue{8, backlog};

  [[nodiscard]] LearnBlocks block(const std::vector<std::string>& texts) {
    auto made = queue.make_block();
    Task task(request_of(Operation::kLearn, texts), nullptr);
    make_columns(task);
    Batch batch;
    FakeStream().encode({task.request.pairs.x, task.request.pairs.y, {}}, batch);
    for (std::size_t i = 0; i < texts.size(); ++i) {
      REQUIRE(made.front().add(batch, i, task, i));
    }
    return made;
  }
  // Takes what is in the queue, without waiting. False: nothing will come any more.
  [[nodiscard]] bool take(LearnBlocks& blocks) { return queue.take(blocks, Clock::time_point()); }
};

TEST_CASE("Blocks are taken one by one, in the order in which they were pushed") {
  Learning scene;
  for (std::uint64_t i = 0; i < 3; ++i) {
    auto block = scene.block({"a"});
    block.front().ticket = i;
    scene.queue.push(block);
    CHECK(block.empty());
  }
  for (std::uint64_t i = 0; i < 3; ++i) {
    LearnBlocks taken;
    REQUIRE(scene.take(taken));
    REQUIRE(taken.size() == 1);
    CHECK(taken.front().ticket == i);
  }
  LearnBlocks none;
  CHECK(scene.take(none));
  CHECK(none.empty());
}

TEST_CASE("What is left when the queue is closed is taken, and then it is over") {
  Learning scene;
  auto block = scene.block({"a"});
  scene.queue.push(block);
  scene.queue.close();
  LearnBlocks taken;
  CHECK(scene.take(taken));
  CHECK(taken.size() == 1);
  taken.clear();
  CHECK_FALSE(scene.take(taken));
}

TEST_CASE("A block that has looked at a very long text is not used again") {
  Learning scene;
  constexpr std::size_t kLong = 4U << 20U;
  auto block = scene.block({std::string(kLong, 'a')});
  CHECK(block.front().byte_count() > kLong);
  scene.queue.give_back(block);
  CHECK(scene.queue.make_block().front().byte_count() < kLong);
}

TEST_CASE("A block counts in the backlog from its charge on, and nothing of it stays") {
  Learning scene;
  auto block = scene.block({"a", "b", "c"});
  CHECK(scene.backlog.waiting().pairs == 0);
  scene.queue.charge(block.front());
  CHECK(scene.backlog.waiting().pairs == 3);
  CHECK(scene.backlog.waiting().bytes == block.front().byte_count());
  scene.queue.note_done(block.front(), 2);
  CHECK(scene.backlog.waiting().pairs == 1);
  scene.queue.give_back(block);
  CHECK(scene.backlog.waiting().pairs == 0);
  CHECK(scene.backlog.waiting().bytes == 0);
}

TEST_CASE("A block that was given back comes again empty, and its charge is not given back twice") {
  Learning scene;
  auto block = scene.block({"a", "b"});
  scene.queue.charge(block.front());
  const auto* memory = &block.front();
  scene.queue.give_back(block);
  auto again = scene.queue.make_block();
  CHECK(&again.front() == memory);
  CHECK(again.front().size() == 0);
  CHECK(again.front().parts.empty());
  CHECK(again.front().is_duplicate.empty());
  scene.queue.give_back(again);
  CHECK(scene.backlog.waiting().pairs == 0);
  CHECK(scene.backlog.waiting().bytes == 0);
}

TEST_CASE("No more than the longest text is kept of a text") {
  Learning scene;
  const auto block = scene.block({"short", "longer than eight"});
  CHECK(block.front().texts(0).first == "short");
  CHECK(block.front().texts(1).first == "longer t");
  CHECK(block.front().texts(1).second.empty());
}

TEST_CASE("A learner that waits for a block is woken by one, by a call, and by the end") {
  Learning scene;
  std::atomic<int> calls{0};
  std::atomic<int> blocks{0};
  std::thread learner([&] {
    LearnBlocks taken;
    while (scene.queue.take(taken, Clock::now() + std::chrono::hours(1))) {
      (taken.empty() ? calls : blocks) += 1;
      (taken.empty() ? calls : blocks).notify_all();
      scene.queue.give_back(taken);
    }
  });
  for (int i = 1; i <= 200; ++i) {
    scene.queue.wake();
    calls.wait(i - 1);
    auto block = scene.block({"a"});
    scene.queue.push(block);
    blocks.wait(i - 1);
  }
  scene.queue.close();
  learner.join();
  CHECK(calls == 200);
  CHECK(blocks == 200);
}

}  // namespace
}  // namespace phsic::test
