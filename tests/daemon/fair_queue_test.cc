#include "daemon/fair_queue.h"

#include <catch2/catch.hpp>
#include <map>
#include <string>

#include "core/random.h"

namespace phsic::test {
namespace {

std::shared_ptr<Job> make_job(const std::string& client, std::size_t rows, bool scores = true) {
  auto job = std::make_shared<Job>();
  job->operation = scores ? Operation::kScore : Operation::kLearn;
  job->client = client;
  job->scores = scores;
  job->learns = !scores;
  job->pairs.x.resize(rows);
  job->pairs.y.resize(rows);
  return job;
}

constexpr FairQueue::Limits kWide = {1'000'000, 1'000'000};

TEST_CASE("Every row of every job is taken once, and each client's in its own order") {
  Random random(3);
  FairQueue queue(kWide);
  std::map<std::string, std::vector<std::shared_ptr<Job>>> jobs;
  for (int i = 0; i < 200; ++i) {
    const auto client = std::to_string(random.below(5));
    const auto job = make_job(client, random.below(40), random.below(2) == 0);
    jobs[client].push_back(job);
    REQUIRE(queue.offer(job));
  }
  queue.close();
  std::map<std::string, std::pair<std::size_t, std::size_t>> next;  // job and row of each client
  FairQueue::Taken taken;
  while (queue.take(taken, 16)) {
    std::size_t rows = 0;
    for (const auto& [job, first, count] : taken.slices) {
      auto& [place, row] = next[job->client];
      REQUIRE(jobs[job->client].at(place) == job);
      REQUIRE(first == row);
      row += count;
      rows += count;
      if (row == job->pairs.size()) {
        ++place;
        row = 0;
      }
    }
    CHECK(rows <= 16);
  }
  for (const auto& [client, all] : jobs) CHECK(next[client].first == all.size());
  CHECK(queue.depth().pairs == 0);
  CHECK(queue.depth().bytes == 0);
}

TEST_CASE("A client that floods the queue leaves room for others") {
  FairQueue queue({1000, 1'000'000});
  std::size_t flooded = 0;
  while (queue.offer(make_job("flood", 10))) flooded += 10;
  CHECK(flooded <= 510);
  CHECK(queue.offer(make_job("modest", 100)));
  CHECK(queue.offer(make_job("another", 100)));
  CHECK_FALSE(queue.offer(make_job("flood", 10)));
}

TEST_CASE("Clients take turns, whoever came first") {
  FairQueue queue(kWide);
  for (int i = 0; i < 100; ++i) REQUIRE(queue.offer(make_job("many", 10)));
  REQUIRE(queue.offer(make_job("one", 10)));
  FairQueue::Taken taken;
  REQUIRE(queue.take(taken, 20));
  REQUIRE(taken.slices.size() == 2);
  CHECK(taken.slices[1].job->client == "one");
}

TEST_CASE("Those who wait for scores come before those who only teach") {
  FairQueue queue(kWide);
  REQUIRE(queue.offer(make_job("teacher", 5, false)));
  REQUIRE(queue.offer(make_job("", 5)));  // by ingest: nobody waits
  REQUIRE(queue.offer(make_job("asker", 5)));
  FairQueue::Taken taken;
  REQUIRE(queue.take(taken, 256));
  REQUIRE(taken.slices.size() == 1);
  CHECK(taken.slices[0].job->client == "asker");
  CHECK_FALSE(taken.learns);
  REQUIRE(queue.take(taken, 256));
  CHECK(taken.slices.size() == 2);
  CHECK(taken.learns);
}

TEST_CASE("A job larger than the queue is taken when nothing else waits") {
  FairQueue queue({10, 1000});
  CHECK(queue.offer(make_job("a", 500)));
  CHECK_FALSE(queue.offer(make_job("b", 1)));
  FairQueue::Taken taken;
  REQUIRE(queue.take(taken, 1000));
  CHECK(queue.offer(make_job("b", 1)));
}

TEST_CASE("A closed queue gives what it has and takes no more") {
  FairQueue queue(kWide);
  REQUIRE(queue.offer(make_job("a", 1)));
  queue.close();
  CHECK_FALSE(queue.offer(make_job("a", 1)));
  FairQueue::Taken taken;
  CHECK(queue.take(taken, 8));
  CHECK_FALSE(queue.take(taken, 8));
}

}  // namespace
}  // namespace phsic::test
