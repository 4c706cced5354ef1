// Starts threads.
#include "daemon/mailbox.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace phsic::test {
namespace {

using Numbers = Mailbox<int>;

TEST_CASE("What a thread puts is taken in its order, in the loop's thread") {
  boost::asio::io_context loop;
  std::map<int, std::vector<int>> taken;
  Mailbox<std::pair<int, int>> box(loop,
                                   [&](auto& item) { taken[item.first].push_back(item.second); });
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&box, t] {
      for (int i = 0; i < 1000; ++i) box.put({t, i});
    });
  }
  const auto work = boost::asio::make_work_guard(loop);
  const auto is_complete = [&] {
    std::size_t all = 0;
    for (const auto& [thread, items] : taken) all += items.size();
    return all == 4000;
  };
  while (!is_complete()) loop.run_one();
  for (auto& thread : threads) thread.join();
  for (const auto& [thread, items] : taken) {
    for (int i = 0; i < 1000; ++i) CHECK(items[static_cast<std::size_t>(i)] == i);
  }
}

TEST_CASE("The loop is called once for all that waits, and again for what comes later") {
  boost::asio::io_context loop;
  std::vector<int> taken;
  const Numbers box(loop, [&](int& item) { taken.push_back(item); });
  box.put(1);
  box.put(2);
  CHECK(loop.poll() == 1);
  CHECK(taken == std::vector<int>{1, 2});
  loop.restart();
  box.put(3);
  CHECK(loop.poll() == 1);
  CHECK(taken == std::vector<int>{1, 2, 3});
}

TEST_CASE("What is put while items are taken is taken later") {
  boost::asio::io_context loop;
  std::vector<int> taken;
  std::optional<Numbers> box;
  box.emplace(loop, [&](int& item) {
    if (item == 1) box->put(3);
    taken.push_back(item);
  });
  box->put(1);
  box->put(2);
  loop.poll();
  CHECK(taken == std::vector<int>{1, 2, 3});
}

TEST_CASE("Nothing is taken once the mailbox is gone") {
  boost::asio::io_context loop;
  std::vector<int> taken;
  std::optional<Numbers> box;
  SECTION("before the loop looked") {
    box.emplace(loop, [&](int& item) { taken.push_back(item); });
    box->put(1);
    box.reset();
    loop.poll();
    CHECK(taken.empty());
  }
  SECTION("while items are taken") {
    // What the mailbox calls must not be used after it is gone.
    auto alive = std::make_shared<bool>(true);
    box.emplace(loop, [&, alive = std::move(alive)](int& item) {
      const auto still = alive;
      if (item == 1) box.reset();
      taken.push_back(item);
    });
    box->put(1);
    box->put(2);
    loop.poll();
    CHECK(taken == std::vector<int>{1});
  }
}

// An item for which there is memory at the third attempt only.
struct Rare {
  explicit Rare(int& made) : attempts(&made) {}
  Rare(Rare&& other) noexcept(false) : attempts(other.attempts) {
    if (++*attempts < 3) throw std::bad_alloc();
  }
  Rare(const Rare&) = delete;
  Rare& operator=(const Rare&) = delete;
  Rare& operator=(Rare&&) = delete;
  ~Rare() = default;

  int* attempts;
};

TEST_CASE("An item waits until there is memory for it, and is not lost") {
  boost::asio::io_context loop;
  int attempts = 0;
  int taken = 0;
  const Mailbox<Rare> box(loop, [&](Rare& /*item*/) { ++taken; });
  box.put(Rare(attempts));
  CHECK(attempts == 3);
  CHECK(loop.poll() == 1);
  CHECK(taken == 1);
}

}  // namespace
}  // namespace phsic::test
