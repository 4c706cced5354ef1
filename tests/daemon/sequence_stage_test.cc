// These tests start threads.
#include "daemon/serving/sequence_stage.h"

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <memory>
#include <numeric>
#include <set>
#include <thread>
#include <utility>

#include "core/random.h"
#include "tests/daemon/stage_scene.h"

namespace phsic::test {
namespace {

struct Sequencing : StageScene {
  LearnQueue queue{100, backlog};
  SequenceStage stage{SeenIds(1000), RecentPairs(100), plan, queue, counters, completion};

  // A task that teaches pairs of these ids; "" is none.
  [[nodiscard]] std::shared_ptr<Task> learn(const std::vector<std::string>& ids,
                                            bool waits = false) const {
    auto request = request_of(Operation::kLearn, ids);
    request.pairs.ids = ids;
    return task(std::move(request), waits);
  }
  // Appends rows of a task, of which the first `refused` are of no use.
  void append(LearnBlock& block, const Slice& slice, std::size_t refused = 0) const {
    const auto& pairs = slice.task->request.pairs;
    Batch batch;
    stream.encode({pairs.x, pairs.y, {}}, batch);
    for (auto i = slice.first + refused; i < slice.first + slice.count; ++i) {
      REQUIRE(block.add(batch, i, *slice.task, i));
    }
    block.parts.push_back({slice.task, slice.count, block.size(), refused});
  }
  [[nodiscard]] LearnBlocks block(std::uint64_t ticket, const std::vector<Slice>& slices = {}) {
    auto made = queue.make_block();
    made.front().ticket = ticket;
    for (const auto& slice : slices) append(made.front(), slice);
    return made;
  }
  // Everything that the learner has got.
  [[nodiscard]] LearnBlocks arrived() {
    LearnBlocks all;
    while (true) {
      LearnBlocks one;
      REQUIRE(queue.take(one, std::chrono::steady_clock::time_point::min()));
      if (one.empty()) return all;
      all.splice(all.end(), one);
    }
  }
};

std::vector<std::uint64_t> tickets_of(const LearnBlocks& blocks) {
  std::vector<std::uint64_t> tickets;
  for (const auto& block : blocks) tickets.push_back(block.ticket);
  return tickets;
}

TEST_CASE("Blocks are learned in the order of their tickets, however they are handed in") {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    Random random(seed);
    Sequencing scene;
    constexpr std::size_t kBlocks = 64;
    // Each task has rows in two blocks.
    std::vector<std::shared_ptr<Task>> tasks;
    std::vector<LearnBlocks> blocks;
    std::vector<std::vector<Slice>> slices(kBlocks);
    for (std::size_t i = 0; i + 1 < kBlocks; ++i) {
      std::vector<std::string> ids(random.below(7));
      for (auto& id : ids) id = random.below(4) == 0 ? "" : std::to_string(random.below(100));
      const auto task = scene.learn(ids);
      const auto first = random.below(ids.size() + 1);
      if (first == 0 || first == ids.size()) {
        slices[i].push_back(Sequencing::whole(task));
      } else {
        slices[i].push_back({task, 0, first});
        slices[i + 1].push_back({task, first, ids.size() - first});
      }
      tasks.push_back(task);
    }
    for (std::size_t i = 0; i < kBlocks; ++i) blocks.push_back(scene.block(i, slices[i]));

    std::vector<std::size_t> order(kBlocks);
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (std::size_t i = kBlocks; i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
    std::atomic<std::size_t> next{0};
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < 1 + seed % 4; ++t) {
      threads.emplace_back([&] {
        for (auto i = next++; i < kBlocks; i = next++) scene.stage.hand_in(blocks[order[i]]);
      });
    }
    for (auto& thread : threads) thread.join();

    // The same computed one pair after the other, with a set.
    std::set<std::string> seen;
    std::map<const Task*, std::size_t> duplicates;
    std::vector<std::uint64_t> expected;
    std::vector<std::vector<bool>> are_duplicates;
    for (std::size_t i = 0; i < kBlocks; ++i) {
      std::vector<bool> rows;
      for (const auto& [task, first, count] : slices[i]) {
        for (auto row = first; row < first + count; ++row) {
          const auto& id = task->request.pairs.ids[row];
          rows.push_back(!id.empty() && !seen.insert(id).second);
          if (rows.back()) ++duplicates[task.get()];
        }
      }
      if (rows.empty()) continue;
      expected.push_back(i);
      are_duplicates.push_back(rows);
    }
    auto arrived = scene.arrived();
    CHECK(tickets_of(arrived) == expected);
    std::vector<std::vector<bool>> found;
    for (const auto& block : arrived) found.push_back(block.is_duplicate);
    CHECK(found == are_duplicates);
    for (const auto& task : tasks) {
      CHECK(task->duplicates == duplicates[task.get()]);
      CHECK(task->learned == task->request.pairs.size() - duplicates[task.get()]);
      CHECK_FALSE(scene.caller->is_done(*task));
      scene.completion.scored(Sequencing::whole(task));
      CHECK(scene.caller->told(*task).done == 1);
    }
    scene.queue.give_back(arrived);
    CHECK(scene.backlog.waiting().pairs == 0);
    CHECK(scene.backlog.waiting().bytes == 0);
  }
}

TEST_CASE("No thread waits for a missing block: one thread may hand in the last one first") {
  Sequencing scene;
  std::vector<std::shared_ptr<Task>> tasks;
  for (int i = 0; i < 10; ++i) tasks.push_back(scene.learn({std::to_string(i)}));
  for (std::size_t i = 10; i-- > 1;) {
    auto block = scene.block(i, {Sequencing::whole(tasks[i])});
    scene.stage.hand_in(block);
    CHECK(block.empty());
    CHECK(scene.arrived().empty());
    CHECK(tasks[i]->unsequenced == 1);
  }
  auto first = scene.block(0, {Sequencing::whole(tasks[0])});
  scene.stage.hand_in(first);
  CHECK(tickets_of(scene.arrived()) == std::vector<std::uint64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  for (const auto& task : tasks) CHECK(task->unsequenced == 0);
}

TEST_CASE("A pair whose id was seen is not learned again, be it in the same block or another") {
  Sequencing scene;
  const auto first = scene.learn({"a", "b", "a", ""});
  const auto second = scene.learn({"b", "c", "", "c"});
  auto block = scene.block(0, {Sequencing::whole(first)});
  scene.stage.hand_in(block);
  block = scene.block(1, {Sequencing::whole(second)});
  scene.stage.hand_in(block);
  const auto arrived = scene.arrived();
  REQUIRE(arrived.size() == 2);
  CHECK(arrived.front().is_duplicate == std::vector<bool>{false, false, true, false});
  CHECK(arrived.back().is_duplicate == std::vector<bool>{true, false, false, true});
  CHECK(first->learned == 3);
  CHECK(first->duplicates == 1);
  CHECK(second->learned == 2);
  CHECK(second->duplicates == 2);
  CHECK(scene.counters.duplicates == 3);
}

TEST_CASE("Ids of pairs that came before the daemon was started are known") {
  Sequencing scene;
  SeenIds seen(10);
  seen.add(hash_id("old"));
  SequenceStage stage(std::move(seen), RecentPairs(100), scene.plan, scene.queue, scene.counters,
                      scene.completion);
  const auto task = scene.learn({"old", "new"});
  auto block = scene.block(0, {Sequencing::whole(task)});
  stage.hand_in(block);
  CHECK(scene.arrived().front().is_duplicate == std::vector<bool>{true, false});
}

TEST_CASE("Pairs of no use are counted as refused, and in order all the same") {
  Sequencing scene;
  const auto task = scene.learn({"a", "b", "c"});
  auto block = scene.block(0);
  scene.append(block.front(), Sequencing::whole(task), 2);
  scene.stage.hand_in(block);
  CHECK(scene.counters.refused == 2);
  CHECK(task->learned == 1);
  CHECK(task->unsequenced == 0);
}

std::shared_ptr<const DecidePlan> plan_with(DuplicatePolicy policy) {
  auto plan = open_plan();
  plan.duplicates = policy;
  return std::make_shared<const DecidePlan>(std::move(plan));
}

std::vector<std::pair<std::size_t, ReasonCode>> rejected_in(const LearnBlock& block) {
  std::vector<std::pair<std::size_t, ReasonCode>> all;
  for (const auto& one : block.rejected) all.emplace_back(one.place, one.decision.reason);
  return all;
}

TEST_CASE("A pair that came before is dropped, in the order of tickets and not of arrival") {
  Sequencing scene;
  scene.plan.set(plan_with(DuplicatePolicy::kDrop));
  auto request = request_of(Operation::kScore, {"same", "other"});
  request.learns = true;
  const auto first = scene.task(request_of(Operation::kLearn, {"same", "Same", "new"}));
  const auto second = scene.task(std::move(request));
  auto later = scene.block(1, {Sequencing::whole(second)});
  scene.stage.hand_in(later);
  auto earlier = scene.block(0, {Sequencing::whole(first)});
  scene.stage.hand_in(earlier);
  const auto arrived = scene.arrived();
  REQUIRE(arrived.size() == 2);
  CHECK(arrived.front().is_duplicate == std::vector<bool>{false, true, false});
  CHECK(arrived.back().is_duplicate == std::vector<bool>{true, false});
  using reasons::kDuplicate;
  CHECK(rejected_in(arrived.front()) ==
        std::vector<std::pair<std::size_t, ReasonCode>>{{1, reasons::kNearDuplicate}});
  CHECK(second->outcome.decision(0) == Decision{Verdict::kDrop, kDuplicate});
  CHECK(second->outcome.decision(1).verdict == Verdict::kUndecided);
  CHECK(first->learned == 2);
  CHECK(first->rejected == 1);
  CHECK(second->rejected == 1);
  CHECK(scene.counters.rejected == 2);
  CHECK(scene.counters.duplicates == 0);
  CHECK(scene.counters.taught[Verdict::kDrop] == 2);
}

TEST_CASE("A duplicate that is learned once is judged by its score, or is like any other") {
  Sequencing scene;
  const auto policy = GENERATE(DuplicatePolicy::kOnce, DuplicatePolicy::kLearn);
  scene.plan.set(plan_with(policy));
  const bool is_once = policy == DuplicatePolicy::kOnce;
  const auto task = scene.task(request_of(Operation::kLearn, {"a", "a"}));
  auto block = scene.block(0, {Sequencing::whole(task)});
  scene.stage.hand_in(block);
  CHECK(scene.arrived().front().is_duplicate == std::vector<bool>{false, is_once});
  CHECK(task->outcome.decision(1) == Decision{Verdict::kKeep, reasons::kNone});
  CHECK(task->learned == (is_once ? 1 : 2));
  CHECK(task->rejected == (is_once ? 1 : 0));
}

TEST_CASE("A pair of a known id is no duplicate of itself, and a rejected one leaves no id") {
  Sequencing scene;
  scene.plan.set(plan_with(DuplicatePolicy::kDrop));
  const auto task = scene.learn({"no 1", "no 2", "no 1", "no 3"});
  // Texts are the ids: give the last one the first one's text.
  task->request.pairs.x[3] = task->request.pairs.x[0];
  auto block = scene.block(0, {Sequencing::whole(task)});
  scene.stage.hand_in(block);
  CHECK(scene.arrived().front().is_duplicate == std::vector<bool>{false, true, true, true});
  CHECK(task->duplicates == 1);
  CHECK(task->rejected == 2);
  const auto again = scene.learn({"no 3"});
  auto next = scene.block(1, {Sequencing::whole(again)});
  scene.stage.hand_in(next);
  CHECK(again->duplicates == 0);
  CHECK(again->rejected == 1);
}

TEST_CASE("Pairs that broke a rule keep their places among duplicates") {
  Sequencing scene;
  scene.plan.set(plan_with(DuplicatePolicy::kDrop));
  const auto task = scene.task(request_of(Operation::kLearn, {"a", "b", "a"}));
  auto block = scene.block(0, {Sequencing::whole(task)});
  constexpr ReasonCode kRule = reasons::kFirstRule;
  constexpr auto kDrop = static_cast<std::uint8_t>(Verdict::kDrop);
  block.front().rejected = {{0, {kDrop, kRule}}, {2, {kDrop, kRule}}, {3, {kDrop, kRule}}};
  scene.stage.hand_in(block);
  CHECK(rejected_in(scene.arrived().front()) ==
        std::vector<std::pair<std::size_t, ReasonCode>>{
            {0, kRule}, {2, kRule}, {2, reasons::kDuplicate}, {3, kRule}});
}

TEST_CASE("A block of nothing but rejected pairs goes on to the learner, and its bytes count") {
  Sequencing scene;
  auto block = scene.block(0);
  block.front().rejected = {{0, {1, reasons::kFirstRule}}};
  scene.stage.hand_in(block);
  CHECK(scene.backlog.waiting().pairs == 0);
  CHECK(scene.backlog.waiting().bytes > 0);
  CHECK(scene.arrived().size() == 1);
}

TEST_CASE("Pairs that will not be learned do not count as pairs before the next model") {
  Sequencing scene;
  scene.plan.set(plan_with(DuplicatePolicy::kDrop));
  const auto task = scene.learn({"a", "b", "a", ""});
  // A duplicate of the second pair, by its text.
  task->request.pairs.x[3] = task->request.pairs.x[1];
  task->request.pairs.y[3] = task->request.pairs.y[1];
  auto block = scene.block(0, {Sequencing::whole(task)});
  scene.stage.hand_in(block);
  CHECK(task->duplicates == 1);
  CHECK(task->rejected >= 1);
  CHECK(scene.backlog.waiting().pairs == task->learned);
  auto arrived = scene.arrived();
  scene.queue.give_back(arrived);
  CHECK(scene.backlog.waiting().pairs == 0);
  CHECK(scene.backlog.waiting().bytes == 0);
}

TEST_CASE("A block without pairs holds its place, and the learner does not see it") {
  Sequencing scene;
  const auto task = scene.learn({"a"});
  auto second = scene.block(1, {Sequencing::whole(task)});
  scene.stage.hand_in(second);
  CHECK(scene.arrived().empty());
  auto first = scene.block(0);
  scene.stage.hand_in(first);
  CHECK(tickets_of(scene.arrived()) == std::vector<std::uint64_t>{1});
}

TEST_CASE("A task that waits for the learner comes through in a block without pairs, too") {
  Sequencing scene;
  auto request = request_of(Operation::kRefresh, {});
  const auto order = scene.task(std::move(request), true);
  auto block = scene.block(0);
  block.front().markers.push_back({0, order});
  scene.stage.hand_in(block);
  const auto arrived = scene.arrived();
  REQUIRE(arrived.size() == 1);
  CHECK(arrived.front().markers.at(0).task == order);
}

}  // namespace
}  // namespace phsic::test
