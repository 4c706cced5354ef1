#include "core/pivots.h"

#include <catch2/catch.hpp>
#include <numeric>
#include <set>

#include "core/features.h"
#include "tests/core/oracle.h"
#include "tests/core/streams.h"

namespace phsic::test {
namespace {

std::vector<double> ones(std::size_t n) { return std::vector<double>(n, 1); }

TEMPLATE_TEST_CASE_SIG("Duplicates never become pivots", "", ((PivotRule kRule), kRule),
                       PivotRule::kRandom, PivotRule::kGreedy) {
  const auto distinct = make_stream<double>({.pairs = 7}, 1).x;
  std::vector<std::size_t> repeated;
  for (std::size_t i = 0; i < 70; ++i) repeated.push_back(i % 7);
  const auto items = distinct.select(repeated);
  const auto choice = choose_pivots(Kernel::gaussian(2), items, ones(70), 20, kRule, 1e-10, 3);
  CHECK(choice.chosen.size() == 7);
  std::set<std::size_t> classes;
  for (const std::size_t i : choice.chosen) classes.insert(i % 7);
  CHECK(classes.size() == 7);
  CHECK(choice.factor.allFinite());
  CHECK(choice.unexplained < 1e-9);
}

TEST_CASE("More pivots than items gives as many as there are items") {
  const auto items = make_stream<double>({.pairs = 5}, 2).x;
  const auto choice =
      choose_pivots(Kernel::gaussian(1), items, ones(5), 1000, PivotRule::kRandom, 1e-10, 1);
  CHECK(choice.chosen.size() == 5);
}

TEST_CASE("No items give no pivots, and zero vectors none either") {
  ItemBlock<double> none({ItemKind::kDense, 3});
  CHECK(
      choose_pivots(Kernel::gaussian(1), none, {}, 4, PivotRule::kRandom, 1e-10, 1).chosen.empty());
  const auto zeros = block_of_row<double>({0, 0, 0}).select({0, 0});
  CHECK(choose_pivots(Kernel::cosine(), zeros, ones(2), 4, PivotRule::kRandom, 1e-10, 1)
            .chosen.empty());
}

TEMPLATE_TEST_CASE_SIG("The factor is the Cholesky factor of the pivots' Gram matrix", "",
                       ((PivotRule kRule), kRule), PivotRule::kRandom, PivotRule::kGreedy) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto items = make_stream<double>({.pairs = 60}, seed).x;
    const Kernel kernel = Kernel::parse("sum(cosine,gaussian:sigma=2)");
    const auto choice = choose_pivots(kernel, items, ones(60), 12, kRule, 1e-10, seed);
    const auto pivots = items.select(choice.chosen);
    const Eigen::MatrixXd expected = gram(kernel, pivots, pivots);
    CHECK((choice.factor * choice.factor.transpose() - expected).norm() < 1e-9);
  }
}

TEST_CASE(
    "Random pivots explain nearly as much as greedy ones, and outliers do not lead them astray") {
  // A dense cloud and a few far outliers: greedy takes the outliers, random the cloud.
  auto items = make_stream<double>({.dim_x = 5, .pairs = 300}, 5).x;
  const auto unexplained_by = [&](PivotRule rule) {
    return choose_pivots(Kernel::gaussian(2), items, ones(items.size()), 20, rule, 1e-10, 1)
        .unexplained;
  };
  CHECK(unexplained_by(PivotRule::kRandom) < 1.2 * unexplained_by(PivotRule::kGreedy));
  for (int i = 0; i < 10; ++i) {
    items.append_all(block_of_row<double>({100.0 * (i + 1), -50.0 * i, 0, 7, 1}));
  }
  CHECK(unexplained_by(PivotRule::kRandom) < unexplained_by(PivotRule::kGreedy));
}

TEST_CASE("Items of weight 0 are not drawn") {
  const auto items = make_stream<double>({.pairs = 40}, 6).x;
  std::vector<double> weights(40, 0);
  std::fill_n(weights.begin(), 10, 1);
  const auto choice =
      choose_pivots(Kernel::gaussian(1), items, weights, 10, PivotRule::kRandom, 1e-10, 1);
  for (const std::size_t i : choice.chosen) CHECK(i < 10);
}

TEMPLATE_TEST_CASE("The residual is what the features leave of k(x,x)", "", float, double) {
  const auto items = make_stream<TestType>({.pairs = 80}, 7).x;
  const auto precise = items.template cast<double>();
  const Kernel kernel = Kernel::gaussian(2);
  const auto choice = choose_pivots(kernel, precise, ones(80), 15, PivotRule::kRandom,
                                    kPivotTolerance<TestType>, 1);
  const FeatureMap<TestType> map(
      PivotSet<TestType>{kernel, items.select(choice.chosen), choice.factor});
  FeatureBlock<TestType> block;
  Workspace workspace;
  map.map(items.view(), block, workspace);
  const auto features = std::get<DenseRows<TestType>>(block.features);
  const Eigen::MatrixXd k = gram(kernel, precise, precise);
  double mean = 0;
  for (std::size_t i = 0; i < 80; ++i) {
    double explained = 0;
    for (std::size_t j = 0; j < features.dim; ++j) {
      explained += double(features.row(i)[j]) * double(features.row(i)[j]);
    }
    CHECK(block.self[i] == Approx(k(long(i), long(i))));
    CHECK(block.residual[i] == Approx(std::max(0.0, 1 - explained)).margin(1e-6));
    CHECK(block.residual[i] >= 0);
    mean += block.residual[i] / 80;
  }
  for (const std::size_t pivot : choice.chosen) CHECK(block.residual[pivot] < 1e-4);
  CHECK(mean == Approx(choice.unexplained).margin(1e-4));
}

}  // namespace
}  // namespace phsic::test
