// A law: two ways to the same thing must agree, on every random shape. And a deliberately wrong way
// must not, or the law tells nothing.
#pragma once

#include <catch2/catch.hpp>
#include <cstdint>
#include <string>

namespace phsic::test {

inline constexpr std::uint64_t kShapes = 50;

// Which way to take: the right one, or the one that the law has to reject.
enum class Way { kRight, kWrong };

// `distance(seed, way)` makes a random shape from the seed and returns how far apart the two sides
// are. The right way must stay within `tolerance` on all shapes, the wrong one must not on nearly
// all (a random shape may be too small to show the difference).
template <class Distance>
void require_law(const std::string& law, double tolerance, const Distance& distance) {
  int rejected = 0;
  for (std::uint64_t seed = 1; seed <= kShapes; ++seed) {
    CAPTURE(law, seed);
    REQUIRE(distance(seed, Way::kRight) <= tolerance);
    if (!(distance(seed, Way::kWrong) <= tolerance)) ++rejected;
  }
  CAPTURE(law);
  REQUIRE(rejected >= static_cast<int>(kShapes) * 9 / 10);
}

}  // namespace phsic::test
