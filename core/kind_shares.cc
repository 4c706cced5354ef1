#include "core/kind_shares.h"

#include <algorithm>
#include <cmath>

namespace phsic {
namespace {

// Beyond this an expert is sure, and its odds are no longer to be taken at their word.
constexpr double kMostLogOdds = 20;
constexpr int kMostRounds = 200;
constexpr double kSmallChange = 1e-6;
// Pairs that each kind, and being good, count for besides those that are there: no share is 0.
constexpr double kFloor = 0.5;

double odds_against(double log_odds) {
  return std::exp(std::clamp(-log_odds, -kMostLogOdds, kMostLogOdds));
}

}  // namespace

double KindShares::quality(const double* log_odds) const {
  double bad = 0;
  for (std::size_t k = 0; k < kinds.size(); ++k) bad += kinds[k] * odds_against(log_odds[k]);
  return good / (good + bad);
}

KindShares estimate_shares(std::span<const double> log_odds, std::size_t kinds, double too_few) {
  KindShares shares;
  shares.kinds.assign(kinds, 0);
  const std::size_t pairs = kinds == 0 ? 0 : log_odds.size() / kinds;
  if (pairs == 0) return shares;
  std::vector<double> odds(log_odds.size());
  std::transform(log_odds.begin(), log_odds.end(), odds.begin(), odds_against);
  shares.good = 0.5;
  std::fill(shares.kinds.begin(), shares.kinds.end(), 0.5 / static_cast<double>(kinds));
  const double all = static_cast<double>(pairs) + kFloor * static_cast<double>(kinds + 1);
  std::vector<double> sums(kinds);
  for (int round = 0; round < kMostRounds; ++round) {
    double good = kFloor;
    std::fill(sums.begin(), sums.end(), kFloor);
    for (std::size_t i = 0; i < pairs; ++i) {
      const double* row = odds.data() + i * kinds;
      double total = shares.good;
      for (std::size_t k = 0; k < kinds; ++k) total += shares.kinds[k] * row[k];
      good += shares.good / total;
      for (std::size_t k = 0; k < kinds; ++k) sums[k] += shares.kinds[k] * row[k] / total;
    }
    for (double& sum : sums) {
      const double taken = std::min(sum - kFloor, too_few);
      sum -= taken;
      good += taken;
    }
    double change = std::abs(good / all - shares.good);
    shares.good = good / all;
    for (std::size_t k = 0; k < kinds; ++k) {
      change = std::max(change, std::abs(sums[k] / all - shares.kinds[k]));
      shares.kinds[k] = sums[k] / all;
    }
    if (change < kSmallChange) break;
  }
  return shares;
}

}  // namespace phsic
