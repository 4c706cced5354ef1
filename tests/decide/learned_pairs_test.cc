#include "decide/learned_pairs.h"

#include <catch2/catch.hpp>
#include <set>
#include <string>

#include "core/random.h"

namespace phsic::test {
namespace {

// Keys that differ in their first 32 bits differ in their fingerprints.
PairKey learned_key(std::uint64_t number) { return {number << 32U, 0}; }

LearnedPairs learned_range(std::uint64_t first, std::uint64_t last) {
  LearnedPairs learned;
  for (std::uint64_t i = first; i < last; ++i) learned.add(learned_key(i));
  return learned;
}

std::string print_bytes(std::uint8_t is_complete, const std::vector<std::uint32_t>& prints) {
  Writer writer;
  writer.number(is_complete);
  writer.array(prints);
  return seal(LearnedPairs::kArchiveKind, writer.bytes());
}

TEST_CASE("Pairs that were learned are known at any time, and no others") {
  for (const std::uint64_t different : {1, 10, 1000, 30000, 1000000}) {
    CAPTURE(different);
    Random random(different);
    LearnedPairs learned;
    std::set<std::uint64_t> oracle;
    for (int step = 0; step < 30000; ++step) {
      const std::uint64_t number = random.below(different);
      learned.add(learned_key(number));
      oracle.insert(number);
      if (step % 20 == 0) {
        REQUIRE(learned.contains(learned_key(number)));
        const std::uint64_t other = random.below(different);
        REQUIRE(learned.contains(learned_key(other)) == oracle.contains(other));
      }
      if (step % 5000 == 777) {
        learned.settle();
        REQUIRE(learned.size() == oracle.size());
      }
    }
    for (std::uint64_t i = 0; i < std::min<std::uint64_t>(different, 3000); ++i) {
      REQUIRE(learned.contains(learned_key(i)) == oracle.contains(i));
    }
    CHECK(learned.size() >= oracle.size());
    CHECK(learned.is_complete());
  }
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
      CHECK(learned.is_complete());
    }
    learned.settle();
    CHECK(learned.size() == most);
    learned.add(learned_key(most));
    CHECK(!learned.is_complete());
    CHECK(!learned.contains(learned_key(most)));
    CHECK(learned.size() == most);
    CHECK(!parse<LearnedPairs>(serialise(learned)).is_complete());
  }
  CHECK_THROWS_WITH(LearnedPairs(LearnedPairs::kMost + 1),
                    Catch::Contains("found 16777217 pairs to remember"));
}

TEST_CASE("Pairs that came twice before the end take nobody's room") {
  constexpr std::size_t kRoom = 4000;
  LearnedPairs learned(kRoom);
  // The one that comes again and again waits unsorted with the others.
  for (std::uint64_t i = 0; i < kRoom; ++i) {
    learned.add(learned_key(0));
    learned.add(learned_key(i));
  }
  CHECK(learned.is_complete());
  for (std::uint64_t i = 0; i < kRoom; ++i) REQUIRE(learned.contains(learned_key(i)));
}

TEST_CASE("Learned pairs are saved alike in whatever order they came") {
  LearnedPairs forwards;
  LearnedPairs backwards;
  for (std::uint64_t i = 0; i < 3000; ++i) {
    forwards.add(learned_key(i));
    backwards.add(learned_key(2999 - i));
    backwards.add(learned_key(2999 - i / 2));
  }
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
  LearnedPairs full(10);
  for (std::uint64_t i = 0; i < 11; ++i) full.add(learned_key(i));
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
