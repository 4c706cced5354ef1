// Shares of kinds, of generated pairs whose kinds are known.
#include "core/kind_shares.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "core/random.h"
#include "tests/core/reduced.h"

namespace phsic::test {
namespace {

// Good pairs are normal around 0, those of kind k around `lead` in coordinate k. The log odds are
// those of the very densities.
struct Mixture {
  Mixture(std::size_t pairs, const std::vector<double>& shares, double lead, std::uint64_t seed)
      : kinds(shares.size()) {
    Random random(seed);
    for (std::size_t i = 0; i < pairs; ++i) {
      auto kind = kinds;
      double rest = random.uniform();
      for (std::size_t k = 0; k < kinds && kind == kinds; ++k) {
        if (rest < shares[k]) kind = k;
        rest -= shares[k];
      }
      is_good.push_back(kind == kinds);
      for (std::size_t k = 0; k < kinds; ++k) {
        const double at = random.normal() + (k == kind ? lead : 0);
        log_odds.push_back(0.5 * lead * lead - lead * at);
      }
    }
  }
  [[nodiscard]] double mean_quality(const KindShares& found) const {
    double sum = 0;
    for (std::size_t i = 0; i < is_good.size(); ++i) sum += found.quality(&log_odds[i * kinds]);
    return sum / static_cast<double>(is_good.size());
  }
  std::size_t kinds;
  std::vector<double> log_odds;  // rows
  std::vector<bool> is_good;
};

double sum_of(const KindShares& shares) {
  return std::accumulate(shares.kinds.begin(), shares.kinds.end(), shares.good);
}

TEST_CASE("Shares are estimated within their sampling error", "[oracle]") {
  const auto pairs = static_cast<std::size_t>(reduced(8000, 4));
  const std::vector<std::vector<double>> cases = {
      {0.3}, {0.25, 0.1}, {0.05, 0.2, 0.1, 0.15}, {0.9}, {0.02, 0.4}};
  std::uint64_t seed = 0;
  for (const auto& shares : cases) {
    CAPTURE(shares);
    const Mixture mixture(pairs, shares, 3, ++seed);
    const auto found = estimate_shares(mixture.log_odds, shares.size(), 0);
    // Overlap takes away some of what a pair tells.
    const double error = 5 * 1.3 * std::sqrt(0.25 / static_cast<double>(pairs));
    double good = 1;
    for (std::size_t k = 0; k < shares.size(); ++k) {
      CHECK(found.kinds[k] == Approx(shares[k]).margin(error));
      good -= shares[k];
    }
    CHECK(found.good == Approx(good).margin(error));
    CHECK(sum_of(found) == Approx(1));
  }
}

TEST_CASE("Where there is no damage nearly all is good") {
  for (const double lead : {1.0, 2.0, 4.0}) {
    CAPTURE(lead);
    const Mixture mixture(1000, {0, 0, 0, 0}, lead, 7);
    CHECK(estimate_shares(mixture.log_odds, 4, 10).good > 0.95);
  }
}

TEST_CASE("As few pairs of a kind as count as good ones are no damage") {
  Mixture mixture(1000, {0, 0}, 5, 3);
  for (std::size_t i = 0; i < 20; ++i) mixture.log_odds[2 * i] = -30;
  const auto seen = estimate_shares(mixture.log_odds, 2, 0);
  CHECK(seen.kinds[0] == Approx(0.02).margin(0.004));
  const auto passed = estimate_shares(mixture.log_odds, 2, 10);
  CHECK(passed.kinds[0] == Approx(0.01).margin(0.004));
  CHECK(passed.good == Approx(seen.good + 0.01).margin(0.002));
  CHECK(estimate_shares(mixture.log_odds, 2, 25).kinds[0] < 0.001);
}

TEST_CASE("The mean quality is the share of good pairs, among those of like quality too") {
  const Mixture mixture(static_cast<std::size_t>(reduced(20000, 4)), {0.2, 0.1}, 2, 5);
  const auto found = estimate_shares(mixture.log_odds, 2, 0);
  CHECK(mixture.mean_quality(found) == Approx(found.good).margin(0.002));
  double good = 0;
  double expected = 0;
  double count = 0;
  for (std::size_t i = 0; i < mixture.is_good.size(); ++i) {
    const double quality = found.quality(&mixture.log_odds[2 * i]);
    if (quality < 0.3 || quality > 0.7) continue;
    good += mixture.is_good[i] ? 1 : 0;
    expected += quality;
    ++count;
  }
  REQUIRE(count > 200);
  CHECK(good / count == Approx(expected / count).margin(2.5 / std::sqrt(count)));
}

TEST_CASE("A quality is the good share among all that a pair may be") {
  const KindShares shares{0.7, {0.2, 0.1}};
  const double log_odds[] = {1.5, -2};
  CHECK(shares.quality(log_odds) ==
        Approx(0.7 / (0.7 + 0.2 * std::exp(-1.5) + 0.1 * std::exp(2.0))));
  CHECK(KindShares().quality(nullptr) == 1);
}

TEST_CASE("Experts that are all too sure leave shares and qualities finite") {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const double most : {50.0, 1e6, 1e300, kInfinity}) {
    std::vector<double> log_odds;
    for (int i = 0; i < 300; ++i) log_odds.push_back(i % 3 == 0 ? -most : most);
    for (const std::size_t kinds : {1, 2, 3}) {
      const auto found = estimate_shares(log_odds, kinds, 10);
      CHECK(sum_of(found) == Approx(1));
      CHECK(found.good > 0);
      for (const double share : found.kinds) CHECK(share > 0);
      for (std::size_t i = 0; i + kinds <= log_odds.size(); i += kinds) {
        const double quality = found.quality(&log_odds[i]);
        CHECK(quality >= 0);
        CHECK(quality <= 1);
      }
    }
  }
}

TEST_CASE("Log odds that are no number give a quality that is none") {
  const KindShares shares{0.7, {0.2, 0.1}};
  const double log_odds[] = {1, std::numeric_limits<double>::quiet_NaN()};
  CHECK(std::isnan(shares.quality(log_odds)));
}

TEST_CASE("Without pairs, or without kinds, everything is good") {
  CHECK(estimate_shares({}, 3, 10) == KindShares{1, {0, 0, 0}});
  CHECK(estimate_shares({}, 0, 10) == KindShares{1, {}});
}

}  // namespace
}  // namespace phsic::test
