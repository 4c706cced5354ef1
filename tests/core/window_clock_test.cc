#include "core/window_clock.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "core/recent.h"

namespace phsic::test {
namespace {

using Mode = Forgetting::Mode;

WindowClock clock_at(const Forgetting& forgetting, const std::vector<double>& times) {
  WindowClock clock(forgetting);
  for (const double time : times) clock.arrive(time);
  return clock;
}

}  // namespace

TEST_CASE("A clock never goes backwards") {
  const auto clock = clock_at({Mode::kHalfLifeSeconds, 10, 1}, {-5, 7, 3, 8});
  CHECK(clock.latest_time() == 8);
  CHECK(clock.reading().times == std::vector<double>{-5, 7, 7, 8});
  CHECK(clock.next_number() == 4);
  // Times of recent pairs are looked up, the one asked for included.
  CHECK(clock.recent_since(7) == 3);
  CHECK(clock.recent_since(7.5) == 1);
  CHECK(clock.recent_since(9) == 0);
}

TEST_CASE("The first pair sets a clock, before the time 0 as well") {
  const auto clock = clock_at({}, {-1000});
  CHECK(clock.latest_time() == -1000);
  CHECK(WindowClock(Forgetting{}).newest_number() == -1);
}

TEST_CASE("Recent pairs keep their numbers when older ones are dropped") {
  auto clock = clock_at({Mode::kHalfLifePairs, 10, 1}, {1, 2, 3, 4, 5});
  clock.drop_oldest(2);
  CHECK(clock.recent() == 3);
  CHECK(clock.number(0) == 2);
  CHECK(clock.arrival(2) == 4);
  CHECK(clock.next_number() == 5);
}

TEST_CASE("Pairs fade by seconds or by their numbers, or never") {
  const std::vector<double> times = {100, 130};
  const auto seconds = clock_at({Mode::kHalfLifeSeconds, 10, 1}, times);
  CHECK(seconds.arrival(0) == 100);
  CHECK(seconds.fading(0, 130) == -3);
  CHECK(seconds.log_fading(20) == Approx(2 * std::log(2)));
  const auto pairs = clock_at({Mode::kHalfLifePairs, 10, 1}, times);
  CHECK(pairs.arrival(1) == 1);
  CHECK(pairs.fading(0, 30) == -3);
  const auto never = clock_at({}, times);
  CHECK(never.fading(0, 1e9) == 0);
  CHECK(never.log_fading(1e9) == 0);
}

TEST_CASE("Without a window there is one bucket, which never passes") {
  const auto clock = clock_at({Mode::kHalfLifeSeconds, 10, 8}, {0, 1e9});
  CHECK(clock.bucket_count() == 1);
  CHECK(clock.bucket_at(-1e9) == 0);
  CHECK(clock.newest_bucket() == 0);
  CHECK_FALSE(clock.is_past(-5));
  CHECK(clock.recent_past() == 0);
}

TEST_CASE("A window of seconds has buckets of equal length") {
  auto clock = clock_at({Mode::kWindowSeconds, 40, 4}, {3, 12, 29});
  CHECK(clock.bucket_count() == 4);
  CHECK(clock.bucket_at(9.9) == 0);
  CHECK(clock.bucket_at(10) == 1);
  CHECK(clock.bucket_at(-0.1) == -1);
  CHECK(clock.newest_bucket() == 2);
  CHECK_FALSE(clock.is_past(-1));
  CHECK(clock.is_past(-2));
  CHECK(clock.recent_past() == 0);
  // Two recent pairs leave it without ever having left the recent ones.
  clock.arrive(57);
  CHECK(clock.recent_past() == 2);
  CHECK(clock.is_before_window(1, 5));
  CHECK_FALSE(clock.is_before_window(2, 5));
}

TEST_CASE("A window of pairs has buckets of whole blocks, and no more than it has blocks") {
  CHECK(WindowClock({Mode::kWindowPairs, 100, 8}).bucket_count() == 1);
  CHECK(WindowClock({Mode::kWindowPairs, 3 * kBlockPairs + 5, 8}).bucket_count() == 3);
  const WindowClock clock({Mode::kWindowPairs, 9 * kBlockPairs, 4});
  CHECK(clock.bucket_count() == 4);
  // A quarter of nine blocks is three blocks.
  CHECK(clock.bucket_at(3 * kBlockPairs - 1) == 0);
  CHECK(clock.bucket_at(3 * kBlockPairs) == 1);
  CHECK(clock.newest_bucket() == -1);
}

TEST_CASE("Buckets of any time have numbers that can be counted on") {
  const WindowClock clock({Mode::kWindowSeconds, 1e-9, 1});
  CHECK(clock.bucket_at(1e15) == 9'000'000'000'000'000);
  CHECK(clock.bucket_at(-1e15) == -9'000'000'000'000'000);
}

TEST_CASE("A clock catches up with a later one, and gives its pairs no numbers") {
  const Forgetting forgetting{Mode::kWindowSeconds, 40, 4};
  auto clock = clock_at(forgetting, {50});
  clock.catch_up(clock_at(forgetting, {20, 30}));
  CHECK(clock.latest_time() == 50);
  clock.catch_up(clock_at(forgetting, {20, 90}));
  CHECK(clock.latest_time() == 90);
  CHECK(clock.next_number() == 1);
  CHECK(clock.recent() == 1);
  WindowClock unset(forgetting);
  unset.catch_up(WindowClock(forgetting));
  CHECK_FALSE(unset.reading().has_time);
  unset.catch_up(clock_at(forgetting, {-70}));
  CHECK(unset.latest_time() == -70);
}

TEST_CASE("A clock goes on from its reading") {
  const Forgetting forgetting{Mode::kWindowSeconds, 40, 4};
  auto clock = clock_at(forgetting, {5, 6, 40});
  clock.drop_oldest(1);
  WindowClock again(forgetting, clock.reading());
  for (auto* one : {&clock, &again}) one->arrive(47);
  CHECK(again.reading().times == clock.reading().times);
  CHECK(again.next_number() == clock.next_number());
  CHECK(again.newest_bucket() == clock.newest_bucket());
  CHECK(again.recent_past() == 1);
}

}  // namespace phsic::test
