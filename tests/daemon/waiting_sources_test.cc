// These tests start threads.
#include "daemon/serving/waiting_sources.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <thread>
#include <vector>

#include "daemon/serving/backlog.h"
#include "tests/daemon/fake_caller.h"

namespace phsic::test {
namespace {

std::shared_ptr<FakeCaller> make_source() {
  return std::make_shared<FakeCaller>("", FakeCaller::Kind::kSource);
}

TEST_CASE("A source that waits is told of room once") {
  WaitingSources sources;
  const auto source = make_source();
  sources.tell();
  CHECK(source->room() == 0);
  sources.add(source);
  sources.add(source);
  sources.tell();
  sources.tell();
  CHECK(source->room() == 1);
  sources.add(source);
  sources.tell();
  CHECK(source->room() == 2);
}

TEST_CASE("A source that has found room is not told, and others are") {
  WaitingSources sources;
  const auto first = make_source();
  const auto second = make_source();
  sources.add(first);
  sources.add(second);
  sources.remove(first);
  sources.tell();
  CHECK(first->room() == 0);
  CHECK(second->room() == 1);
}

// As a lane does it: every source puts in what it can, and waits when there is no room.
TEST_CASE("No source waits for ever, however room comes and goes") {
  constexpr int kSources = 3;
  constexpr std::uint64_t kPairs = 3000;
  WaitingSources sources;
  Backlog backlog({2, 1000});
  std::atomic<int> left{kSources};
  std::vector<std::thread> threads;
  // Offers come one at a time, as those of the loop's thread.
  std::mutex offering;
  const auto offer = [&](const std::shared_ptr<FakeCaller>& source) {
    const std::lock_guard lock(offering);
    sources.add(source);
    if (!backlog.has_room({1, 0})) return false;
    backlog.add({1, 0});
    sources.remove(source);
    return true;
  };
  for (int i = 0; i < kSources; ++i) {
    threads.emplace_back([&] {
      const auto source = make_source();
      for (std::uint64_t k = 0; k < kPairs; ++k) {
        for (auto heard = source->room(); !offer(source); heard = source->room()) {
          source->wait_for_room(heard);
        }
      }
      --left;
    });
  }
  // One thread alone takes away, without a lock.
  while (left > 0 || backlog.waiting().pairs > 0) {
    if (backlog.waiting().pairs == 0) {
      std::this_thread::yield();
      continue;
    }
    backlog.remove({1, 0});
    sources.tell();
  }
  for (auto& thread : threads) thread.join();
  CHECK(backlog.waiting().pairs == 0);
}

}  // namespace
}  // namespace phsic::test
