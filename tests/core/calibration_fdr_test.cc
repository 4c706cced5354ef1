// The false-discovery rate that thresholds promise, against streams whose random pairs are known.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "core/calibration.h"
#include "core/random.h"

namespace phsic {
namespace {

// Random pairings score normally about 0, good pairs about `distance`.
struct MixedStream {
  double random_share;
  double distance;

  [[nodiscard]] double draw(Random& random, bool& is_random) const {
    is_random = random.uniform() < random_share;
    return random.normal() + (is_random ? 0 : distance);
  }
};

Calibration calibrate(const MixedStream& stream, std::size_t pairs, Random& random) {
  std::vector<double> matched(pairs);
  std::vector<double> null(9 * pairs);
  bool is_random = false;
  for (double& score : matched) score = stream.draw(random, is_random);
  for (double& score : null) score = random.normal();
  return {std::move(matched), std::move(null)};
}

struct Realised {
  double kept = 0;
  double wrong = 0;
  [[nodiscard]] double rate() const { return kept > 0 ? wrong / kept : 0; }
};

Realised keep_new_pairs(const MixedStream& stream, double threshold, int pairs, Random& random) {
  Realised realised;
  for (int i = 0; i < pairs; ++i) {
    bool is_random = false;
    if (stream.draw(random, is_random) < threshold) continue;
    realised.kept += 1;
    if (is_random) realised.wrong += 1;
  }
  return realised;
}

double count_at_least(const std::vector<double>& scores, double score) {
  return double(std::count_if(scores.begin(), scores.end(), [&](double s) { return s >= score; }));
}

// The relative error of an estimated rate that the counts it is made of make unavoidable.
double relative_error(const Calibration& calibration, double threshold) {
  const double median = calibration.null()[calibration.null().size() / 2];
  const double low =
      double(calibration.matched().size()) - count_at_least(calibration.matched(), median);
  return std::sqrt(1 / (1 + low) + 1 / (1 + count_at_least(calibration.null(), threshold)) +
                   1 / count_at_least(calibration.matched(), threshold));
}

// Many calibrations of one stream, each tried on new pairs.
struct Trials {
  int count = 0;
  int beyond = 0;  // calibrations whose realised rate is above what chance allows
  double sum = 0;
  double squares = 0;
  double good_kept = 0;

  void run(const MixedStream& stream, std::size_t pairs, double rate, int calibrations) {
    for (int i = 0; i < calibrations; ++i) {
      Random random(std::uint64_t(i), pairs * 1000 + std::uint64_t(stream.distance * 100) +
                                          std::uint64_t(stream.random_share * 10));
      const Calibration calibration = calibrate(stream, pairs, random);
      ++count;
      const auto threshold = calibration.threshold(rate);
      if (!threshold) continue;
      const Realised realised = keep_new_pairs(stream, *threshold, 2000, random);
      sum += realised.rate();
      squares += realised.rate() * realised.rate();
      good_kept += (realised.kept - realised.wrong) / (2000 * (1 - stream.random_share));
      const double allowed = rate * (1 + 1.96 * relative_error(calibration, *threshold)) +
                             1.96 * std::sqrt(rate * (1 - rate) / std::max(realised.kept, 1.0));
      if (realised.rate() > allowed) ++beyond;
    }
  }
  [[nodiscard]] double mean() const { return sum / count; }
  [[nodiscard]] double error_of_mean() const {
    return std::sqrt(std::max(squares / count - mean() * mean(), 0.0) / count);
  }
};

}  // namespace

TEST_CASE("Of new pairs above a threshold no more are random than its rate says") {
  constexpr int kCalibrations = 60;
  for (const std::size_t pairs : {51, 512}) {
    for (const double distance : {2.0, 3.0, 4.0, 6.0}) {
      for (const double share : {0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6}) {
        for (const double rate : {0.01, 0.05, 0.1}) {
          CAPTURE(pairs, distance, share, rate);
          Trials trials;
          trials.run({share, distance}, pairs, rate, kCalibrations);
          // Three errors: there are 168 means here.
          CHECK(trials.mean() <= rate + 3 * trials.error_of_mean());
          // A fortieth is expected beyond a one-sided bound of 97.5%; 6 of 60 are beyond chance.
          CHECK(trials.beyond < 6);
        }
      }
    }
  }
}

TEST_CASE("A threshold for a rate does not throw away what the rate allows to keep") {
  for (const double share : {0.0, 0.1, 0.3, 0.6}) {
    for (const double rate : {0.01, 0.05, 0.1}) {
      CAPTURE(share, rate);
      Trials trials;
      trials.run({share, 4.0}, 512, rate, 20);
      CHECK(trials.good_kept / trials.count > 0.9);
      if (share > rate) CHECK(trials.mean() > 0.75 * rate);
    }
  }
}

TEST_CASE("Where all pairs are random, few calibrations keep any") {
  int kept = 0;
  for (std::uint64_t i = 0; i < 200; ++i) {
    Random random(i, 5);
    if (calibrate({1.0, 0.0}, 200, random).threshold(0.05)) ++kept;
  }
  CHECK(kept < 25);  // 5% are expected, as of 200 tests at that level
}

TEST_CASE("That no random pairing was seen above a score is no proof that none is there") {
  // Of 4 null scores none reaches 5, which counts as 1 of 5; half of the matched scores do.
  const Calibration calibration({-1, -1, -1, -1, 5, 5, 5, 5}, {-2, -1, 0, 1});
  CHECK_FALSE(calibration.threshold(0.39));
  CHECK(calibration.threshold(0.41) == 5.0);
}

}  // namespace phsic
