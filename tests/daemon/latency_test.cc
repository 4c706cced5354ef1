#include "daemon/serving/latency.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <cmath>
#include <vector>

#include "core/random.h"

namespace phsic::test {
namespace {

using Seconds = std::chrono::duration<double>;

Latency::Clock::duration lasting(double seconds) {
  return std::chrono::duration_cast<Latency::Clock::duration>(Seconds(seconds));
}

TEST_CASE("Quantiles are an eighth too long at most, and never too short") {
  Random random(1);
  Latency latency;
  const auto now = Latency::Clock::time_point(std::chrono::hours(1));
  std::vector<double> all;
  for (int i = 0; i < 5000; ++i) {
    all.push_back(1e-4 * std::exp(2 * random.normal()));
    latency.add(lasting(all.back()), now);
  }
  std::sort(all.begin(), all.end());
  for (const double share : {0.01, 0.5, 0.9, 0.99, 1.0}) {
    const auto place = static_cast<std::size_t>(std::ceil(share * 5000)) - 1;
    const double found = latency.quantile(share, now);
    CHECK(found >= all[place] * 0.999);
    CHECK(found <= all[place] * 1.126);
  }
  CHECK(latency.longest(now) == Approx(all.back()));
}

TEST_CASE("What is older than a minute is forgotten") {
  Latency latency;
  auto now = Latency::Clock::time_point(std::chrono::hours(1));
  latency.add(lasting(9), now);
  CHECK(latency.longest(now + std::chrono::seconds(29)) == Approx(9));
  CHECK(latency.longest(now + std::chrono::seconds(45)) == Approx(9));
  CHECK(latency.longest(now + std::chrono::seconds(120)) == 0);
  CHECK(latency.quantile(0.5, now + std::chrono::seconds(121)) == 0);
}

}  // namespace
}  // namespace phsic::test
