#include "core/pmi.h"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <string>

#include "core/random.h"
#include "tests/core/law.h"

namespace phsic::test {
namespace {

using Pair = std::pair<std::string, std::string>;

std::vector<Pair> random_pairs(std::uint64_t seed, std::size_t count, std::uint64_t words) {
  Random random(seed);
  std::vector<Pair> pairs;
  for (std::size_t i = 0; i < count; ++i) {
    // Squaring makes some words common and most rare.
    const auto word = std::uint64_t(double(words) * std::pow(random.uniform(), 2));
    const std::uint64_t other = random.below(3) == 0 ? random.below(words) : word;
    pairs.emplace_back(fmt::format("x{}", word), fmt::format("y{}", other));
  }
  return pairs;
}

double paper_pmi(const std::vector<Pair>& pairs, const Pair& of) {
  double x = 0;
  double y = 0;
  double both = 0;
  for (const Pair& pair : pairs) {
    x += pair.first == of.first ? 1 : 0;
    y += pair.second == of.second ? 1 : 0;
    both += pair == of ? 1 : 0;
  }
  return std::log(both * double(pairs.size()) / (x * y));
}

void learn(CountPmi& pmi, const std::vector<Pair>& pairs, double weight = 1) {
  for (const auto& [x, y] : pairs) REQUIRE(pmi.learn(x, y, weight) == Fault::kNone);
}

TEST_CASE("Counts give the paper's PMI", "[oracle]") {
  require_law("PMI = log n c(x,y) / c(x)c(y)", 1e-12, [](std::uint64_t seed, Way way) {
    const auto pairs = random_pairs(seed, 100 + 10 * seed, 10 + seed);
    CountPmi pmi(1000, 0);
    // Wrong: one pair was counted twice.
    learn(pmi, pairs);
    if (way == Way::kWrong) learn(pmi, {pairs.front()});
    double worst = 0;
    for (const Pair& pair : pairs) {
      worst =
          std::max(worst, std::abs(pmi.score(pair.first, pair.second) - paper_pmi(pairs, pair)));
    }
    return worst;
  });
}

TEST_CASE("Splitting, order and weights do not matter to counts", "[law]") {
  require_law("merge = whole", 1e-9, [](std::uint64_t seed, Way way) {
    const auto pairs = random_pairs(seed, 200, 20);
    const std::size_t cut = 20 + seed * 3;
    CountPmi whole(1000);
    learn(whole, pairs);
    learn(whole, pairs);
    CountPmi left(1000);
    CountPmi right(1000);
    // Wrong: weight 1 for what was learned twice on one side only.
    learn(right, {pairs.begin(), pairs.begin() + long(cut)}, way == Way::kRight ? 2 : 1);
    learn(left, {pairs.begin() + long(cut), pairs.end()}, 2);
    left.merge(right);
    double worst = 0;
    for (const auto& [x, y] : pairs) {
      worst = std::max(worst, std::abs(left.score(x, y) - whole.score(x, y)));
    }
    return worst;
  });
}

TEST_CASE("A pair never seen is unlikely, an item never seen tells nothing") {
  CountPmi pmi(100);
  learn(pmi, {{"a", "b"}, {"c", "d"}, {"a", "b"}});
  CHECK(pmi.score("a", "b") > 0);
  CHECK(pmi.score("a", "d") == Approx(std::log(1.0 / 4)));
  CHECK(pmi.score("new", "b") == 0);
  CHECK(pmi.score("a", "new") == 0);
  CHECK(CountPmi(10).score("a", "b") == 0);
  CountPmi paper(100, 0);
  learn(paper, {{"a", "b"}, {"c", "d"}});
  CHECK(paper.score("a", "d") == -INFINITY);
}

TEST_CASE("x and y are different even when they are the same word") {
  CountPmi pmi(100, 0);
  learn(pmi, {{"a", "b"}, {"b", "a"}, {"c", "c"}});
  CHECK(pmi.score("a", "a") == -INFINITY);
  CHECK(pmi.score("a", "b") == Approx(std::log(3.0)));
}

TEST_CASE("Memory is bounded and frequent pairs are still right") {
  constexpr std::size_t kCapacity = 500;
  CountPmi pmi(kCapacity, 0);
  CountPmi exact(1 << 20, 0);
  const auto noise = random_pairs(1, 50000, 40000);
  std::size_t largest = 0;
  for (std::size_t i = 0; i < noise.size(); ++i) {
    for (CountPmi* each : {&pmi, &exact}) {
      REQUIRE(each->learn(noise[i].first, noise[i].second) == Fault::kNone);
      if (i % 10 == 0) REQUIRE(each->learn("often", "oft") == Fault::kNone);
    }
    largest = std::max(largest, pmi.size());
  }
  CHECK(largest <= 3 * (kCapacity + kCapacity / 4 + 1));
  CHECK(pmi.error() <= pmi.weight() / (kCapacity + 1));
  CHECK(pmi.error() > 0);
  CHECK(exact.error() == 0);
  CHECK(pmi.score("often", "oft") == Approx(exact.score("often", "oft")).margin(0.1));
}

TEST_CASE("Forgetting weighs counts by age") {
  CountPmi fading(100, 0);
  CountPmi weighted(100, 0);
  const auto pairs = random_pairs(3, 400, 12);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    fading.decay(std::exp2(-1.0 / 0.7));  // far enough that the scale has to be folded in
    REQUIRE(fading.learn(pairs[i].first, pairs[i].second) == Fault::kNone);
    const double age = double(pairs.size() - 1 - i);
    REQUIRE(weighted.learn(pairs[i].first, pairs[i].second, std::exp2(-age / 0.7)) == Fault::kNone);
  }
  CHECK(fading.weight() == Approx(weighted.weight()));
  const auto& [x, y] = pairs.back();
  CHECK(fading.score(x, y) == Approx(weighted.score(x, y)));
}

TEST_CASE("Bad weights and sizes are refused") {
  CountPmi pmi(10);
  for (const double weight : {-1.0, std::nan(""), double{INFINITY}, 1e7}) {
    CHECK(pmi.learn("a", "b", weight) == Fault::kBadWeight);
  }
  CHECK(pmi.learn("a", "b", 0) == Fault::kNone);
  CHECK(pmi.size() == 0);
  CHECK_THROWS_WITH(CountPmi(0), Catch::Contains("found 0, expected 1 to"));
  CHECK_THROWS_WITH(CountPmi(10, -1), Catch::Contains("found -1, expected 0 to"));
  CHECK_THROWS_WITH(pmi.merge(CountPmi(11)), Catch::Contains("found capacity 11"));
}

TEST_CASE("Counts are read back to the same bits") {
  CountPmi pmi(50);
  learn(pmi, random_pairs(4, 1000, 100));
  pmi.decay(0.3);
  const std::string bytes = serialise(pmi);
  const auto copy = parse<CountPmi>(bytes);
  CHECK(serialise(copy) == bytes);
  CHECK(copy.score("x1", "y1") == pmi.score("x1", "y1"));
}

}  // namespace
}  // namespace phsic::test
