// These tests start threads.
#include "daemon/serving/background.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <thread>
#include <vector>

namespace phsic::test {
namespace {

TEST_CASE("Work is done in its order, all of it, and the end comes last") {
  std::vector<int> done;
  {
    Background background([&] { done.push_back(-1); });
    for (int i = 0; i < 100; ++i) background.add([&done, i] { done.push_back(i); });
    background.close();
  }
  REQUIRE(done.size() == 101);
  for (int i = 0; i < 100; ++i) CHECK(done[static_cast<std::size_t>(i)] == i);
  CHECK(done.back() == -1);
}

TEST_CASE("Work is done until it is closed, and by one thread that is none of ours") {
  std::atomic<int> done{0};
  std::thread::id by;
  Background background([] {});
  background.add([&] {
    by = std::this_thread::get_id();
    done = 1;
    done.notify_all();
  });
  done.wait(0);
  CHECK(by != std::this_thread::get_id());
  background.add([&] { CHECK(by == std::this_thread::get_id()); });
  background.close();
}

TEST_CASE("Any thread may add work") {
  std::atomic<int> done{0};
  {
    Background background([] {});
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 250; ++i) background.add([&] { ++done; });
      });
    }
    for (auto& thread : threads) thread.join();
    background.close();
  }
  CHECK(done == 1000);
}

}  // namespace
}  // namespace phsic::test
