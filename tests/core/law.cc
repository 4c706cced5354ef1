#include "tests/core/law.h"

#include <catch2/catch.hpp>

namespace phsic::test {

void require_law(const std::string& law, double tolerance,
                 const std::function<double(std::uint64_t seed, Way way)>& distance) {
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
