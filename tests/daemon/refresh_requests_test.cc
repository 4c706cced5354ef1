#include "daemon/serving/refresh_requests.h"

#include <catch2/catch.hpp>

#include "core/random.h"

namespace phsic::test {
namespace {

std::shared_ptr<Task> refresh_task(bool all) {
  Request request;
  request.operation = Operation::kRefresh;
  request.all = all;
  return std::make_shared<Task>(std::move(request), nullptr);
}

TEST_CASE("Requests for a model of one kind are taken together, in the order of asking") {
  for (const bool all : {false, true}) {
    RefreshRequests requests;
    CHECK(requests.is_empty());
    RefreshRequests::Tasks asked;
    for (int i = 0; i < 5; ++i) requests.add(asked.emplace_back(refresh_task(all)));
    CHECK_FALSE(requests.is_empty());
    const auto group = requests.take();
    CHECK(group.extent == (all ? PairExtent::kAll : PairExtent::kWithoutHeldBack));
    CHECK((group.tasks == asked));
    CHECK(requests.is_empty());
  }
}

TEST_CASE("The kind of model that was asked for last is taken last") {
  for (const bool last : {false, true}) {
    RefreshRequests requests;
    const auto early = refresh_task(last);
    const auto other = refresh_task(!last);
    const auto late = refresh_task(last);
    requests.add(early);
    requests.add(other);
    requests.add(late);
    CHECK((requests.take().tasks == RefreshRequests::Tasks{other}));
    CHECK((requests.take().tasks == RefreshRequests::Tasks{early, late}));
    CHECK(requests.is_empty());
  }
}

TEST_CASE("Whatever is asked for when, every request is answered once by a model of its kind") {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Random random(seed);
    RefreshRequests requests;
    RefreshRequests::Tasks waiting;  // in the order of asking
    for (int step = 0; step < 60; ++step) {
      if (random.below(3) > 0) {
        waiting.push_back(refresh_task(random.below(2) == 0));
        requests.add(waiting.back());
        continue;
      }
      REQUIRE(requests.is_empty() == waiting.empty());
      if (waiting.empty()) continue;
      // The kind that is not the newest one's, if anybody asks for it.
      const bool newest = waiting.back()->request.all;
      bool taken = newest;
      for (const auto& task : waiting) {
        if (task->request.all != newest) taken = !newest;
      }
      RefreshRequests::Tasks expected;
      RefreshRequests::Tasks left;
      for (const auto& task : waiting) {
        (task->request.all == taken ? expected : left).push_back(task);
      }
      const auto group = requests.take();
      CHECK(group.extent == (taken ? PairExtent::kAll : PairExtent::kWithoutHeldBack));
      CHECK((group.tasks == expected));
      waiting = left;
    }
  }
}

}  // namespace
}  // namespace phsic::test
