// Self-measurement, calibration, and the choices made by them.
#include "core/measure.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "core/refresh.h"
#include "tests/core/oracle.h"
#include "tests/core/scene.h"

namespace phsic::test {
namespace {

TEST_CASE("The area under the curve counts pairs won, ties half") {
  CHECK(area_under_curve({3, 4}, {1, 2}) == 1);
  CHECK(area_under_curve({1, 2}, {3, 4}) == 0);
  CHECK(area_under_curve({1, 3}, {1, 2}) == 0.625);
  CHECK(area_under_curve({5}, {5, 5}) == 0.5);
  CHECK(area_under_curve({}, {1}) == 0.5);
  // Against the definition, on values with many ties.
  Random random(1);
  std::vector<double> positives;
  std::vector<double> negatives;
  for (int i = 0; i < 60; ++i) positives.push_back(double(random.below(12)));
  for (int i = 0; i < 90; ++i) negatives.push_back(double(random.below(9)));
  double wins = 0;
  for (const double p : positives) {
    for (const double n : negatives) wins += p > n ? 1 : p == n ? 0.5 : 0;
  }
  CHECK(area_under_curve(positives, negatives) == Approx(wins / (60 * 90)));
}

TEST_CASE("Ranks give MRR and recall") {
  Trial trial;
  trial.shuffles = 3;
  trial.matched = {10, 5, 1};
  trial.null = {1, 2, 3, /**/ 6, 1, 1, /**/ 2, 3, 4};  // ranks 1, 2, 4
  const auto accuracy = accuracy_of(trial);
  REQUIRE(accuracy);
  CHECK(accuracy->mrr == Approx((1 + 0.5 + 0.25) / 3));
  CHECK(accuracy->recall_1 == Approx(1.0 / 3));
  CHECK(accuracy->recall_2 == Approx(2.0 / 3));
  CHECK(accuracy->recall_5 == Approx(1));
  CHECK(accuracy->pairs == 3);
  CHECK_FALSE(accuracy_of(Trial{{1}, {}, 0}));
}

TEST_CASE("Exchanged y's are never a pair's own, and all different") {
  // An estimator that tells which y it was given: scores are x * y with x = 1.
  Covariance c =
      two_pass_covariance(Eigen::MatrixXd::Ones(2, 1), Eigen::MatrixXd::Ones(2, 1), {1, 1});
  c.xy(0, 0) = 1;
  const auto estimator = Estimator<double>::phsic(c, 0, false, 1);
  for (const std::size_t n : {2, 3, 9, 10, 11, 50}) {
    ItemBlock<double> x({ItemKind::kDense, 1});
    ItemBlock<double> y({ItemKind::kDense, 1});
    for (std::size_t i = 0; i < n; ++i) {
      const double one = 1;
      const auto mark = double(i + 1);
      REQUIRE(x.append(DenseRows<double>{&one, 1, 1}, 0) == Fault::kNone);
      REQUIRE(y.append(DenseRows<double>{&mark, 1, 1}, 0) == Fault::kNone);
    }
    const Trial trial = run_trial(estimator, x.view(), y.view(), n);
    CHECK(trial.shuffles == std::min<std::size_t>(kShuffles, n - 1));
    for (std::size_t i = 0; i < n; ++i) {
      std::vector<double> given(trial.null.begin() + long(i * trial.shuffles),
                                trial.null.begin() + long((i + 1) * trial.shuffles));
      std::sort(given.begin(), given.end());
      CHECK(std::adjacent_find(given.begin(), given.end()) == given.end());
      CHECK(std::find(given.begin(), given.end(), trial.matched[i]) == given.end());
    }
  }
}

TEST_CASE("Calibration gives percentiles and p-values") {
  const Calibration calibration({4, 1, 3, 2}, {0, 0, 1, 2, 5, 1, 0, 0, 0});
  CHECK(*calibration.percentile(0) == 0);
  CHECK(*calibration.percentile(1) == 0.125);
  CHECK(*calibration.percentile(2.5) == 0.5);
  CHECK(*calibration.percentile(9) == 1);
  CHECK(*calibration.p_value(6) == Approx(0.1));
  CHECK(*calibration.p_value(5) == Approx(0.2));
  CHECK(*calibration.p_value(-1) == 1);
  CHECK_FALSE(calibration.percentile(std::nan("")));
  CHECK_FALSE(Calibration().p_value(1));
  CHECK_FALSE(Calibration().percentile(1));
  CHECK_FALSE(Calibration().threshold(0.1));
  CHECK_THROWS_WITH(Calibration({1, std::nan("")}, {1}), Catch::Contains("expected finite"));
}

TEST_CASE("The share of random pairings and a threshold for it are found") {
  // Matched scores around 4, null around 0; a known share of the matched are null.
  for (const double share : {0.0, 0.2, 0.5}) {
    CAPTURE(share);
    Random random(9);
    std::vector<double> matched;
    std::vector<double> null;
    std::vector<double> truly_random;
    for (int i = 0; i < 4000; ++i) {
      const bool is_random = random.uniform() < share;
      matched.push_back(random.normal() + (is_random ? 0 : 4));
      if (is_random) truly_random.push_back(matched.back());
    }
    for (int i = 0; i < 36000; ++i) null.push_back(random.normal());
    const Calibration calibration(matched, null);
    CHECK(*calibration.random_share() == Approx(share).margin(0.05));
    const auto threshold = calibration.threshold(0.05);
    REQUIRE(threshold);
    const auto above = [&](const std::vector<double>& scores) {
      return double(
          std::count_if(scores.begin(), scores.end(), [&](double s) { return s >= *threshold; }));
    };
    CHECK(above(truly_random) / above(matched) < 0.07);
    if (share > 0.1) CHECK(above(truly_random) / above(matched) > 0.02);
  }
}

using Linear = Subject<float, ItemKind::kDense, "linear", "linear">;

// A stream whose x has a few informative and many noisy coordinates.
Learner<float> noisy_learner(std::size_t pairs, double noise, std::uint64_t seed,
                             StreamConfig config = {}) {
  Random random(seed);
  constexpr std::uint32_t kDim = 30;
  config.x = {{ItemKind::kDense, kDim}, Kernel::linear(), 0};
  config.y = config.x;
  Learner<float> learner(config);
  std::vector<float> x(kDim);
  std::vector<float> y(kDim);
  for (std::size_t i = 0; i < pairs; ++i) {
    for (std::size_t j = 0; j < kDim; ++j) {
      const double loud = j == 0 ? 20 : 1;  // the loudest coordinate tells nothing
      const double hidden = random.normal();
      x[j] = static_cast<float>(loud * random.normal() * noise + (j < 6 && j > 0 ? hidden : 0));
      y[j] = static_cast<float>(loud * random.normal() * noise + (j < 6 && j > 0 ? hidden : 0));
    }
    learner.learn(DenseRows<float>{x.data(), 1, kDim}, DenseRows<float>{y.data(), 1, kDim}, nullptr,
                  nullptr, nullptr);
  }
  return learner;
}

TEST_CASE("Self-AUC agrees with the AUC on new pairs") {
  const auto learner = noisy_learner(6000, 0.7, 1);
  EstimatorSpec spec;
  spec.kind = EstimatorKind::kGaussianPmi;
  const auto model = refresh(learner, spec, Learner<float>::Extent::kWithoutHeldBack).model;
  REQUIRE(model->facts().accuracy);
  // The same stream goes on; score its pairs and exchanged ones.
  const auto later = noisy_learner(7000, 0.7, 1);
  const ItemBlock<float> x = later.held_back_x();
  const ItemBlock<float> y = later.held_back_y();
  const Trial trial = run_trial(*model->estimator(), x.view(), y.view(), 5);
  CHECK(model->facts().accuracy->auc == Approx(accuracy_of(trial)->auc).margin(0.03));
  CHECK(model->facts().accuracy->auc > 0.75);
  // p-values of exchanged pairs are uniform.
  int low = 0;
  for (const double score : trial.null) low += *model->calibration().p_value(score) < 0.1 ? 1 : 0;
  CHECK(double(low) / double(trial.null.size()) == Approx(0.1).margin(0.03));
}

TEST_CASE("All held-back pairs tell where a pair stands, those that chose nothing give the null") {
  const auto learner = noisy_learner(6000, 0.7, 3);
  EstimatorSpec chosen;
  chosen.kind = EstimatorKind::kGaussianPmi;
  EstimatorSpec given = chosen;
  given.ridge = 1;
  for (const auto& spec : {chosen, given}) {
    const auto model = refresh(learner, spec, Learner<float>::Extent::kWithoutHeldBack).model;
    const auto& calibration = model->calibration();
    auto matched = run_trial(*model->estimator(), learner.held_back_x().view(),
                             learner.held_back_y().view(), 5, 0)
                       .matched;
    std::sort(matched.begin(), matched.end());
    // Products of half the pairs round otherwise than those of all, on some processors.
    REQUIRE(calibration.matched().size() == matched.size());
    double largest = 0;
    for (std::size_t i = 0; i < matched.size(); ++i) {
      largest = std::max(largest, std::abs(calibration.matched()[i] - matched[i]));
    }
    CHECK(largest < 1e-5);
    const std::size_t measured = spec.ridge ? matched.size() : matched.size() / 2;
    CHECK(calibration.null().size() == kShuffles * measured);
  }
}

TEST_CASE("auto takes the estimator that does best on held-back pairs") {
  const auto learner = noisy_learner(6000, 0.7, 2);
  const auto auc_of = [&](std::optional<EstimatorKind> kind) {
    EstimatorSpec spec;
    spec.kind = kind;
    return refresh(learner, spec, Learner<float>::Extent::kWithoutHeldBack).model;
  };
  const auto chosen = auc_of(std::nullopt);
  const auto plain = auc_of(EstimatorKind::kPhsic);
  // The loud, uninformative coordinate drowns phsic but not the others.
  CHECK(chosen->estimator()->kind() != EstimatorKind::kPhsic);
  CHECK(chosen->facts().accuracy->auc > plain->facts().accuracy->auc + 0.05);
}

TEST_CASE("The ridge is chosen from the grid by held-back pairs") {
  // Few pairs, many noisy dimensions: a larger ridge does better than a tiny one.
  const auto learner = noisy_learner(400, 1.0, 3);
  EstimatorSpec spec;
  spec.kind = EstimatorKind::kGaussianPmi;
  const auto model = refresh(learner, spec, Learner<float>::Extent::kWithoutHeldBack).model;
  CHECK(std::count(std::begin(kRidgeGrid), std::end(kRidgeGrid), model->facts().ridge) == 1);
  spec.ridge = kRidgeGrid[0];
  const auto tiny = refresh(learner, spec, Learner<float>::Extent::kWithoutHeldBack).model;
  CHECK(model->facts().ridge > kRidgeGrid[0]);
  CHECK(model->facts().accuracy->auc > tiny->facts().accuracy->auc);
  spec.ridge = 0.25;
  CHECK(refresh(learner, spec, Learner<float>::Extent::kAll).model->facts().ridge == 0.25);
  spec.ridge = -1;
  CHECK_THROWS_WITH(refresh(learner, spec, Learner<float>::Extent::kAll),
                    Catch::Contains("ridge: found -1, expected a positive number"));
}

TEST_CASE("Too few held-back pairs choose nothing but still give a model") {
  const auto learner = noisy_learner(20, 0.5, 4);
  EstimatorSpec spec;
  spec.kind = std::nullopt;
  const auto model = refresh(learner, spec, Learner<float>::Extent::kWithoutHeldBack).model;
  CHECK(model->estimator()->kind() == EstimatorKind::kGaussianPmi);
  CHECK(model->facts().ridge == kDefaultRidge);
}

TEST_CASE("A stream of cross-covariances only serves phsic only") {
  StreamConfig config;
  config.parts = Moments::Parts::kCrossOnly;
  const auto learner = noisy_learner(500, 0.5, 5, config);
  EstimatorSpec spec;
  spec.kind = std::nullopt;
  CHECK(refresh(learner, spec, Learner<float>::Extent::kAll).model->estimator()->kind() ==
        EstimatorKind::kPhsic);
  spec.kind = EstimatorKind::kWhitened;
  CHECK_THROWS_WITH(refresh(learner, spec, Learner<float>::Extent::kAll),
                    Catch::Contains("whitened needs the covariances of both sides"));
}

}  // namespace
}  // namespace phsic::test
