#include "decide/learned_pairs.h"

#include <catch2/catch.hpp>
#include <set>
#include <string>
#include <vector>

#include "core/random.h"
#include "core/stream_config.h"

namespace phsic::test {
namespace {

// Keys that differ in their first 32 bits differ in their fingerprints.
PairKey learned_key(std::uint64_t number) { return {number << 32U, 0}; }

LearnedPairs learned_range(std::uint64_t first, std::uint64_t last) {
  LearnedPairs learned;
  for (std::uint64_t i = first; i < last; ++i) learned.add(learned_key(i));
  learned.settle(0);
  return learned;
}

std::string print_bytes(std::uint8_t is_complete, const std::vector<std::uint32_t>& prints,
                        std::size_t newest = 0) {
  Writer writer;
  writer.number(is_complete);
  writer.array(prints);
  writer.array(std::vector<std::uint32_t>(newest));
  return seal(LearnedPairs::kArchiveKind, writer.bytes());
}

TEST_CASE("Pairs that a model has learned are known, and no others") {
  for (const std::uint64_t different : {1, 10, 1000, 30000, 1000000}) {
    CAPTURE(different);
    Random random(different);
    LearnedPairs learned;
    std::vector<std::uint64_t> came;
    for (int step = 0; step < 30000; ++step) {
      came.push_back(random.below(different));
      learned.add(learned_key(came.back()));
      if (step % 5000 != 777) continue;
      // The newest ones are held back from the model, unless they came before.
      const std::size_t held_back = random.below(1000);
      learned.settle(held_back);
      const std::set<std::uint64_t> oracle(
          came.begin(), came.end() - static_cast<std::ptrdiff_t>(std::min(held_back, came.size())));
      REQUIRE(learned.size() == oracle.size());
      for (std::size_t i = 0; i < came.size(); i += 7) {
        REQUIRE(learned.contains(learned_key(came[i])) == oracle.contains(came[i]));
        const std::uint64_t other = random.below(different);
        REQUIRE(learned.contains(learned_key(other)) == oracle.contains(other));
      }
      learned = parse<LearnedPairs>(serialise(learned));
    }
    CHECK(learned.is_complete());
  }
}

TEST_CASE("However many pairs are learned, as many as may be held back wait in their order") {
  LearnedPairs learned;
  constexpr std::uint64_t kPairs = 3 * kMostHeldBack + 5;
  for (std::uint64_t i = 0; i < kPairs; ++i) learned.add(learned_key(i));
  learned.settle(kMostHeldBack);
  CHECK(learned.size() == kPairs - kMostHeldBack);
  CHECK(learned.contains(learned_key(kPairs - kMostHeldBack - 1)));
  CHECK(!learned.contains(learned_key(kPairs - kMostHeldBack)));
}

TEST_CASE("An empty set of learned pairs knows none, not even that of fingerprint 0") {
  const LearnedPairs learned;
  CHECK(!learned.contains({0, 0}));
  CHECK(learned.size() == 0);
  CHECK(parse<LearnedPairs>(serialise(learned)).size() == 0);
}

TEST_CASE("Only as many pairs are learned as can be, and those that are there may come again") {
  for (const std::size_t most : {0, 1, 7, 1000, 1024, 5000}) {
    CAPTURE(most);
    LearnedPairs learned(most);
    for (int round = 0; round < 3; ++round) {
      for (std::uint64_t i = 0; i < most; ++i) learned.add(learned_key(i));
      learned.settle(0);
      CHECK(learned.is_complete());
    }
    CHECK(learned.size() == most);
    learned.add(learned_key(most));
    learned.settle(0);
    CHECK(!learned.is_complete());
    CHECK(!learned.contains(learned_key(most)));
    CHECK(learned.size() == most);
    CHECK(!parse<LearnedPairs>(serialise(learned)).is_complete());
  }
  CHECK_THROWS_WITH(LearnedPairs(LearnedPairs::kMost + 1),
                    Catch::Contains("found 16777217 pairs to remember"));
}

TEST_CASE("Learned pairs are saved alike in whatever order they came") {
  LearnedPairs forwards;
  LearnedPairs backwards;
  for (std::uint64_t i = 0; i < 3000; ++i) {
    forwards.add(learned_key(i));
    backwards.add(learned_key(2999 - i));
    backwards.add(learned_key(2999 - i / 2));
  }
  forwards.settle(0);
  backwards.settle(0);
  const std::string bytes = serialise(forwards);
  CHECK(serialise(backwards) == bytes);
  const auto again = parse<LearnedPairs>(bytes);
  CHECK(serialise(again) == bytes);
  CHECK(again.size() == 3000);
  CHECK(again.contains(learned_key(2999)));
  CHECK(!again.contains(learned_key(3000)));
}

TEST_CASE("Merged sets of learned pairs know the pairs of both") {
  for (const std::uint64_t size : {0, 10, 3000}) {
    CAPTURE(size);
    auto one = learned_range(0, size);
    const auto other = learned_range(size / 2, 2 * size);
    one.merge(other);
    CHECK(serialise(one) == serialise(learned_range(0, 2 * size)));
    one.merge(one);
    CHECK(serialise(one) == serialise(learned_range(0, 2 * size)));
    CHECK(one.is_complete());
  }
  // What is held back of the other one is learned by the merger, what is held back here is not.
  LearnedPairs held;
  held.add(learned_key(1));
  auto here = held;
  here.merge(held);
  CHECK(here.contains(learned_key(1)));
  here = held;
  here.merge(learned_range(5, 6));
  CHECK(!here.contains(learned_key(1)));
  here.settle(0);
  CHECK(here.contains(learned_key(1)));
  LearnedPairs full(10);
  for (std::uint64_t i = 0; i < 11; ++i) full.add(learned_key(i));
  full.settle(0);
  auto whole = learned_range(0, 20);
  whole.merge(full);
  CHECK(!whole.is_complete());
  LearnedPairs small(10);
  small.merge(learned_range(0, 20));
  CHECK(!small.is_complete());
  CHECK(small.size() == 10);
}

TEST_CASE("Saved learned pairs that make no sense are refused") {
  CHECK(parse<LearnedPairs>(print_bytes(1, {1, 2, 9})).size() == 3);
  CHECK_THROWS_WITH(parse<LearnedPairs>(print_bytes(1, {1, 9, 2})),
                    Catch::Contains("found 2 after 9, expected them in ascending order"));
  CHECK_THROWS_WITH(parse<LearnedPairs>(print_bytes(1, {1, 1})),
                    Catch::Contains("found 1 after 1"));
  CHECK_THROWS_AS(parse<LearnedPairs>(print_bytes(2, {1})), Error);
  CHECK(parse<LearnedPairs>(print_bytes(1, {1}, 7)).size() == 1);
  CHECK_THROWS_WITH(parse<LearnedPairs>(print_bytes(1, {1}, 2 * kMostHeldBack)),
                    Catch::Contains("newest pairs"));
}

TEST_CASE("Saved learned pairs, cut or changed anywhere, are refused") {
  const std::string bytes = serialise(learned_range(0, 50));
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    REQUIRE_THROWS_AS(parse<LearnedPairs>(std::string_view(bytes).substr(0, size)), Error);
  }
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    std::string bent = bytes;
    bent[bit / 8] = static_cast<char>(bent[bit / 8] ^ (1 << (bit % 8)));
    REQUIRE_THROWS_AS(parse<LearnedPairs>(bent), Error);
  }
}

}  // namespace
}  // namespace phsic::test
