#include "engine/sightings.h"

#include <catch2/catch.hpp>
#include <vector>

#include "core/error.h"
#include "core/measure.h"

namespace phsic::test {
namespace {

constexpr std::size_t kAbsent = TrialPlan::kAbsent;
using Rows = std::vector<std::vector<std::size_t>>;

Sightings sightings_of(const std::vector<std::uint8_t>& seen, std::size_t most = 100) {
  Sightings sightings(most);
  for (const auto views : seen) sightings.add(views);
  return sightings;
}

TEST_CASE("Held back are the pairs after the newest one that a view which saw it has learned") {
  const auto sightings = sightings_of({0b11, 0b01, 0b11, 0b10, 0b01});
  // The first view holds back the pairs 2 and 4, the second 0, 2 and 3.
  CHECK(sightings.count_held_back({2, 3}) == 3);
  const auto found = sightings.held_back({2, 3});
  CHECK(found.pairs == 3);
  CHECK(found.rows == Rows{{0, kAbsent, 1}, {1, 2, kAbsent}});
  CHECK(sightings.count_held_back({0, 3}) == 0);
  CHECK(sightings.count_held_back({4, 3}) == 5);
  CHECK(sightings.held_back({4, 3}).rows ==
        Rows{{0, 1, 2, kAbsent, 3}, {0, kAbsent, 1, 2, kAbsent}});
}

TEST_CASE("No more pairs are held back than are remembered") {
  CHECK(sightings_of({1, 1, 1, 1, 1}, 3).count_held_back({5}) == 3);
  CHECK(sightings_of({1, 1, 1, 1, 1}, 3).held_back({5}).rows == Rows{{2, 3, 4}});
}

TEST_CASE("Sightings that were saved are the same, and too many are refused") {
  const auto sightings = sightings_of({1, 2, 3}, 3);
  Writer writer;
  sightings.save(writer);
  Reader reader(writer.bytes());
  const auto loaded = Sightings(3).load_like(reader, 3);
  CHECK(loaded.held_back({2, 2}).rows == sightings.held_back({2, 2}).rows);
  for (const auto& [most, pairs] : {std::pair(2, 3), std::pair(3, 2)}) {
    Reader again(writer.bytes());
    CHECK_THROWS_WITH(Sightings(most).load_like(again, pairs),
                      Catch::Contains("found 3, expected 2 at most"));
  }
}

}  // namespace
}  // namespace phsic::test
