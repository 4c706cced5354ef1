#include "core/dependence.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>

#include "core/random.h"
#include "core/refresh.h"
#include "tests/core/oracle.h"
#include "tests/core/reduced.h"

namespace phsic::test {
namespace {

Eigen::MatrixXd random_matrix(Eigen::Index rows, Eigen::Index cols, Random& random) {
  Eigen::MatrixXd m(rows, cols);
  for (Eigen::Index i = 0; i < m.size(); ++i) m.data()[i] = random.normal();
  return m;
}

double hsic_of(const Eigen::MatrixXd& x, const Eigen::MatrixXd& y) {
  return two_pass_covariance(x, y, std::vector<double>(std::size_t(x.rows()), 1)).xy.squaredNorm();
}

Eigen::MatrixXd permuted(const Eigen::MatrixXd& y, Random& random) {
  std::vector<Eigen::Index> order(std::size_t(y.rows()));
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  Eigen::MatrixXd result(y.rows(), y.cols());
  for (Eigen::Index i = 0; i < y.rows(); ++i) result.row(i) = y.row(order[std::size_t(i)]);
  return result;
}

TEST_CASE("p-values agree with permutation tests within sampling error", "[oracle]") {
  constexpr int kPermutations = 2000;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    const auto n = Eigen::Index(30 + random.below(150));
    const Eigen::MatrixXd x = random_matrix(n, Eigen::Index(3 + random.below(12)), random);
    // From independent to clearly dependent.
    Eigen::MatrixXd y = random_matrix(n, Eigen::Index(3 + random.below(12)), random);
    y.col(0) += 0.08 * double(seed % 4) * x.col(0);
    const Covariance c = two_pass_covariance(x, y, std::vector<double>(std::size_t(n), 1));
    const auto dependence = measure_dependence(c);
    REQUIRE(dependence.p_value);
    int as_large = 0;
    for (int i = 0; i < kPermutations; ++i) {
      if (hsic_of(x, permuted(y, random)) >= dependence.hsic) ++as_large;
    }
    const double expected = double(as_large + 1) / (kPermutations + 1);
    // Four standard errors of the permutation test, and the approximation's own few per cent.
    const double error = 4 * std::sqrt(expected * (1 - expected) / kPermutations) + 0.03;
    CHECK(std::abs(*dependence.p_value - expected) < error);
  }
}

TEST_CASE("p-values of independent streams are uniform") {
  int low = 0;
  int high = 0;
  constexpr int kRuns = reduced(600);
  for (std::uint64_t seed = 1; seed <= kRuns; ++seed) {
    Random random(seed + 1000);
    const Eigen::MatrixXd x = random_matrix(40, 8, random);
    const Eigen::MatrixXd y = random_matrix(40, 6, random);
    const auto p =
        measure_dependence(two_pass_covariance(x, y, std::vector<double>(40, 1))).p_value;
    if (*p < 0.05) ++low;
    if (*p > 0.5) ++high;
  }
  CHECK(low == Approx(0.05 * kRuns).margin(4 * std::sqrt(0.05 * 0.95 * kRuns)));
  CHECK(high == Approx(0.5 * kRuns).margin(4 * std::sqrt(0.25 * kRuns)));
}

TEST_CASE("CKA is 1 for the same features, 0 for none, and below 1 else") {
  Random random(3);
  const Eigen::MatrixXd x = random_matrix(200, 5, random);
  const std::vector<double> weights(200, 1);
  CHECK(*measure_dependence(two_pass_covariance(x, x, weights)).cka == Approx(1));
  CHECK(*measure_dependence(two_pass_covariance(x, 3 * x, weights)).cka == Approx(1));
  // Features in single precision are summed by different routines for C_xy and C_xx.
  Covariance rounded = two_pass_covariance(x, x, weights);
  rounded.xy *= 1 + 1e-8;
  CHECK(*measure_dependence(rounded).cka == 1);
  const auto apart =
      measure_dependence(two_pass_covariance(x, random_matrix(200, 5, random), weights));
  CHECK(*apart.cka < 0.1);
  CHECK(*measure_dependence(two_pass_covariance(x, x, weights)).p_value < 1e-12);
}

TEST_CASE("What cannot be told is left out") {
  Random random(4);
  const Eigen::MatrixXd x = random_matrix(5, 2, random);
  // Five pairs are too few for a p-value.
  const auto few = measure_dependence(two_pass_covariance(x, x, std::vector<double>(5, 1)));
  CHECK_FALSE(few.p_value);
  CHECK(few.cka);
  // Without variance there is neither.
  const auto constant = measure_dependence(two_pass_covariance(
      Eigen::MatrixXd::Ones(20, 2), Eigen::MatrixXd::Ones(20, 2), std::vector<double>(20, 1)));
  CHECK(constant.hsic == 0);
  CHECK_FALSE(constant.cka);
  CHECK_FALSE(constant.p_value);
  // Cross-covariances alone know HSIC only.
  Covariance cross = two_pass_covariance(x, x, std::vector<double>(5, 1));
  cross.xx.resize(0, 0);
  cross.yy.resize(0, 0);
  CHECK(measure_dependence(cross).hsic == Approx(few.hsic));
  CHECK_FALSE(measure_dependence(cross).cka);
}

// The p-value of a stream that has carried its moments over to new pivots, and cka.
Dependence after_carrying(const std::string& kernel, double dependence, std::uint64_t seed) {
  constexpr std::size_t kDim = 8;
  StreamConfig config;
  config.x = {{ItemKind::kDense, kDim}, Kernel::parse(kernel), 12};
  config.y = config.x;
  config.reservoir = 64;
  config.held_back = 32;
  config.seed = seed;
  Learner<float> learner(config);
  Random random(seed + 5000);
  EstimatorSpec spec;
  spec.kind = EstimatorKind::kPhsic;
  Refreshed<float> refreshed;
  for (const std::size_t pairs : {300, 252}) {
    std::vector<float> x(pairs * kDim);
    std::vector<float> y(pairs * kDim);
    for (float& value : x) value = static_cast<float>(random.normal());
    for (std::size_t i = 0; i < y.size(); ++i) {
      y[i] = static_cast<float>(random.normal() + dependence * x[i]);
    }
    learner.learn(DenseRows<float>{x.data(), pairs, kDim}, DenseRows<float>{y.data(), pairs, kDim},
                  nullptr, nullptr, nullptr);
    // The stream's own threshold may not be reached; carried pivots are the point.
    refreshed = refresh(learner, spec, Learner<float>::Extent::kWithoutHeldBack);
    if (refreshed.pivots) learner.adopt(*refreshed.pivots);
  }
  return refreshed.model->facts().dependence;
}

// Checks that p-values are uniformly distributed, by their largest distance from that distribution.
// One run in a thousand is beyond the bound.
void check_uniform(std::vector<double> found) {
  std::sort(found.begin(), found.end());
  const auto runs = double(found.size());
  double distance = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    distance = std::max({distance, std::abs(found[i] - double(i) / runs),
                         std::abs(found[i] - double(i + 1) / runs)});
  }
  CHECK(distance < 1.95 / std::sqrt(runs));
}

TEST_CASE("p-values stay right where few pairs are far longer than most, or there are few") {
  constexpr std::size_t kDim = 3;
  for (const double tail : {0.0, 2.0}) {
    const std::size_t pairs = tail > 0 ? 300 : 10;
    CAPTURE(tail, pairs);
    std::vector<double> found;
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
      StreamConfig config;
      config.x = {{ItemKind::kDense, kDim}, Kernel::parse("linear"), 0};
      config.y = config.x;
      config.held_back = 32;
      config.seed = seed;
      Learner<float> learner(config);
      Random random(seed + 9000);
      std::vector<float> x(pairs * kDim);
      std::vector<float> y(pairs * kDim);
      for (auto* side : {&x, &y}) {
        for (float& value : *side) {
          const double normal = random.normal();
          value = static_cast<float>(tail > 0 ? std::exp(tail * normal) : normal);
        }
      }
      learner.learn(DenseRows<float>{x.data(), pairs, kDim},
                    DenseRows<float>{y.data(), pairs, kDim}, nullptr, nullptr, nullptr);
      EstimatorSpec spec;
      spec.kind = EstimatorKind::kPhsic;
      const auto p =
          refresh(learner, spec, Learner<float>::Extent::kAll).model->facts().dependence.p_value;
      REQUIRE(p);
      found.push_back(*p);
    }
    check_uniform(std::move(found));
  }
}

TEST_CASE("p-values stay right where pivots were carried over") {
  for (const std::string kernel : {"laplacian", "gaussian:sigma=0.5"}) {
    CAPTURE(kernel);
    constexpr int kRuns = 200;
    std::vector<double> found;
    for (std::uint64_t seed = 1; seed <= kRuns; ++seed) {
      const auto p = after_carrying(kernel, 0, seed).p_value;
      REQUIRE(p);
      found.push_back(*p);
    }
    check_uniform(found);
    CHECK(std::count_if(found.begin(), found.end(), [](double p) { return p <= 0.01; }) <= 8);
  }
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CHECK(*after_carrying("laplacian", 3, seed).p_value <= 0.02);
  }
}

}  // namespace
}  // namespace phsic::test
