#include "daemon/serving/fair_queue.h"

#include <catch2/catch.hpp>
#include <map>
#include <string>

#include "core/random.h"
#include "tests/daemon/fake_caller.h"

namespace phsic::test {
namespace {

// Tasks of ingest have no client name.
std::shared_ptr<Task> make_task(const std::string& client, std::size_t rows, bool scores = true) {
  Request request;
  request.operation = scores ? Operation::kScore : Operation::kLearn;
  request.scores = scores;
  request.learns = !scores;
  request.pairs.x.resize(rows);
  request.pairs.y.resize(rows);
  const auto kind = client.empty() ? FakeCaller::Kind::kSource : FakeCaller::Kind::kClient;
  return std::make_shared<Task>(std::move(request), std::make_shared<FakeCaller>(client, kind));
}

// One with a text of so many bytes on each side of each pair.
std::shared_ptr<Task> long_task(const std::string& client, std::size_t rows, std::size_t bytes) {
  static const std::string text(8U << 20U, 'a');
  auto task = make_task(client, rows);
  for (auto* side : {&task->request.pairs.x, &task->request.pairs.y}) {
    side->assign(rows, std::string_view(text).substr(0, bytes));
  }
  return task;
}

constexpr std::uint64_t kMany = 1'000'000'000;
constexpr Amount kWide = {kMany, kMany};
constexpr Amount rows(std::uint64_t count) { return {count, kMany}; }
constexpr double kShare = 0.2;

TEST_CASE("Every row of every task is taken once, and each client's in its own order") {
  Random random(3);
  FairQueue queue(kWide, kShare);
  std::map<std::string, std::vector<std::shared_ptr<Task>>> tasks;
  for (int i = 0; i < 200; ++i) {
    const auto client = std::to_string(random.below(5));
    const auto task = make_task(client, random.below(40), random.below(2) == 0);
    tasks[client].push_back(task);
    REQUIRE(queue.offer(task));
  }
  queue.close();
  std::map<std::string, std::pair<std::size_t, std::size_t>> next;  // task and row of each client
  FairQueue::Taken taken;
  while (queue.take(taken, rows(16))) {
    std::size_t found = 0;
    for (const auto& [task, first, count] : taken.slices) {
      auto& [place, row] = next[task->caller->name()];
      REQUIRE(tasks[task->caller->name()].at(place) == task);
      REQUIRE(first == row);
      row += count;
      found += count;
      if (row == task->request.pairs.size()) {
        ++place;
        row = 0;
      }
    }
    CHECK(found <= 16);
  }
  for (const auto& [client, all] : tasks) CHECK(next[client].first == all.size());
  CHECK(queue.depth().pairs == 0);
  CHECK(queue.depth().bytes == 0);
}

TEST_CASE("A client that floods the queue leaves room for others") {
  FairQueue queue({1000, 10'000'000}, kShare);
  std::size_t flooded = 0;
  while (queue.offer(make_task("flood", 10))) flooded += 10;
  CHECK(flooded <= 510);
  CHECK(queue.offer(make_task("modest", 100)));
  CHECK(queue.offer(make_task("another", 100)));
  CHECK_FALSE(queue.offer(make_task("flood", 10)));
}

TEST_CASE("Clients take turns, whichever came first") {
  FairQueue queue(kWide, kShare);
  for (int i = 0; i < 100; ++i) REQUIRE(queue.offer(make_task("many", 10)));
  REQUIRE(queue.offer(make_task("one", 10)));
  FairQueue::Taken taken;
  REQUIRE(queue.take(taken, rows(20)));
  REQUIRE(taken.slices.size() == 2);
  CHECK(taken.slices[1].task->caller->name() == "one");
}

TEST_CASE("Clients that wait for scores come before those that only teach") {
  FairQueue queue(kWide, kShare);
  REQUIRE(queue.offer(make_task("teacher", 5, false)));
  REQUIRE(queue.offer(make_task("", 5)));  // by ingest: nobody waits
  REQUIRE(queue.offer(make_task("asker", 5)));
  FairQueue::Taken taken;
  REQUIRE(queue.take(taken, rows(256)));
  REQUIRE(taken.slices.size() == 1);
  CHECK(taken.slices[0].task->caller->name() == "asker");
  CHECK_FALSE(taken.learns);
  REQUIRE(queue.take(taken, rows(256)));
  CHECK(taken.slices.size() == 2);
  CHECK(taken.learns);
}

// The share of rows that were taught while there were always both to do.
double share_taught(double learn_share, std::size_t asked_at_once, std::size_t taught_at_once) {
  FairQueue queue(kWide, learn_share);
  std::size_t asked[2] = {0, 0};  // offered, taken
  std::size_t taught[2] = {0, 0};
  FairQueue::Taken taken;
  for (int turn = 0; turn < 2000; ++turn) {
    for (; asked[0] < asked[1] + 500; asked[0] += 2 * asked_at_once) {
      static_cast<void>(queue.offer(make_task("a", asked_at_once)));
      static_cast<void>(queue.offer(make_task("b", asked_at_once)));
    }
    for (; taught[0] < taught[1] + 500; taught[0] += 2 * taught_at_once) {
      static_cast<void>(queue.offer(make_task("teacher", taught_at_once, false)));
      static_cast<void>(queue.offer(make_task("", taught_at_once)));
    }
    if (!queue.take(taken, rows(64))) return -1;
    for (const auto& slice : taken.slices) {
      const bool teaches = slice.task->caller->is_source() || slice.task->request.learns;
      (teaches ? taught : asked)[1] += slice.count;
    }
  }
  return static_cast<double>(taught[1]) / static_cast<double>(taught[1] + asked[1]);
}

TEST_CASE("Clients that teach get their share however many wait for scores, and no more") {
  for (const double share : {0.05, 0.2, 0.9}) {
    CHECK(share_taught(share, 20, 20) == Approx(share).margin(0.01));
    CHECK(share_taught(share, 200, 1) == Approx(share).margin(0.01));
    CHECK(share_taught(share, 1, 200) == Approx(share).margin(0.01));
  }
  CHECK(share_taught(0, 20, 20) == 0);
}

TEST_CASE("A share that was not needed is not saved up") {
  FairQueue queue(kWide, kShare);
  FairQueue::Taken taken;
  for (int i = 0; i < 1000; ++i) {
    REQUIRE(queue.offer(make_task("asker", 64)));
    REQUIRE(queue.take(taken, rows(64)));
  }
  for (int i = 0; i < 100; ++i) {
    REQUIRE(queue.offer(make_task("asker", 64)));
    REQUIRE(queue.offer(make_task("teacher", 64, false)));
  }
  int taught = 0;
  for (int i = 0; i < 50; ++i) {
    REQUIRE(queue.take(taken, rows(64)));
    taught += taken.learns ? 1 : 0;
  }
  CHECK(taught == 10);
}

TEST_CASE("A batch has no more bytes than it may, but for a single row") {
  FairQueue queue(kWide, kShare);
  REQUIRE(queue.offer(long_task("a", 10, 1000)));
  REQUIRE(queue.offer(long_task("b", 2, 50'000)));
  FairQueue::Taken taken;
  std::vector<std::size_t> found;
  for (std::size_t left = 12; left > 0;) {
    REQUIRE(queue.take(taken, {256, 10'000}));
    std::size_t count = 0;
    std::size_t bytes = 0;
    for (const auto& slice : taken.slices) {
      count += slice.count;
      for (std::size_t i = 0; i < slice.count; ++i) {
        bytes += slice.task->request.pairs.row_bytes(slice.first + i);
      }
    }
    CHECK((count == 1 || bytes <= 10'000));
    found.push_back(count);
    left -= count;
  }
  CHECK(found == std::vector<std::size_t>{5, 5, 1, 1});
}

TEST_CASE("A client that sends little waits only for the begun part of those that send much") {
  // Each sends its next request when the last one was served, as clients do.
  FairQueue queue(kWide, kShare);
  for (int i = 0; i < 4; ++i)
    REQUIRE(queue.offer(long_task("big" + std::to_string(i), 1, 3U << 20U)));
  FairQueue::Taken taken;
  std::map<std::string, int> served;
  for (int i = 0; i < 400; ++i) {
    // This request came while the one before it was being served.
    REQUIRE(queue.take(taken, {256, 1U << 20U}));
    REQUIRE(taken.slices.size() == 1);
    const auto client = taken.slices[0].task->caller->name();
    ++served[client];
    if (client == "small") continue;
    REQUIRE(queue.offer(long_task("small", 1, 100)));
    REQUIRE(queue.offer(long_task(client, 1, 3U << 20U)));
    REQUIRE(queue.take(taken, {256, 1U << 20U}));
    CHECK(taken.slices[0].task->caller->name() == "small");
    ++served[taken.slices[0].task->caller->name()];
  }
  for (int i = 0; i < 4; ++i) CHECK(served["big" + std::to_string(i)] == 100);
}

TEST_CASE(
    "Clients that come once and never again do not keep those waiting that have come before") {
  FairQueue queue(kWide, kShare);
  REQUIRE(queue.offer(long_task("big", 1, 1U << 20U)));
  FairQueue::Taken taken;
  for (int i = 0;; ++i) {
    REQUIRE(i < 20'000);
    REQUIRE(queue.offer(long_task("new" + std::to_string(i), 1, 1000)));
    REQUIRE(queue.take(taken, rows(1)));
    if (taken.slices[0].task->caller->name() == "big") break;
  }
  CHECK(queue.depth().pairs == 1);
}

TEST_CASE("A task larger than the queue is taken when nothing else waits") {
  FairQueue queue({10, 1000}, kShare);
  CHECK(queue.offer(make_task("a", 500)));
  CHECK_FALSE(queue.offer(make_task("b", 1)));
  FairQueue::Taken taken;
  REQUIRE(queue.take(taken, rows(1000)));
  CHECK(queue.offer(make_task("b", 1)));
}

TEST_CASE("A closed queue gives what it has and takes no more") {
  FairQueue queue(kWide, kShare);
  REQUIRE(queue.offer(make_task("a", 1)));
  queue.close();
  CHECK_FALSE(queue.offer(make_task("a", 1)));
  FairQueue::Taken taken;
  CHECK(queue.take(taken, rows(8)));
  CHECK_FALSE(queue.take(taken, rows(8)));
}

}  // namespace
}  // namespace phsic::test
