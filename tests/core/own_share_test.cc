// A learned pair's score without its own share, against models that never learned the pair.
#include "core/own_share.h"

#include <Eigen/Dense>
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "core/estimator.h"
#include "core/learner.h"
#include "core/model.h"
#include "core/refresh.h"
#include "tests/core/law.h"
#include "tests/core/scene.h"

namespace phsic::test {
namespace {

constexpr double kRidge = 0.1;

enum class OwnKind : std::uint8_t { kExact, kUncentred, kAtRank, kWhitened, kGaussianPmi };

// The covariance of rows from its definition, all but the row `without`.
Covariance covariance_of(const Eigen::MatrixXd& x, const Eigen::MatrixXd& y,
                         std::optional<Eigen::Index> without) {
  Eigen::VectorXd weights = Eigen::VectorXd::Ones(x.rows());
  if (without) weights(*without) = 0;
  Covariance covariance;
  covariance.weight = covariance.effective_pairs = weights.sum();
  weights /= weights.sum();
  covariance.mean_x = x.transpose() * weights;
  covariance.mean_y = y.transpose() * weights;
  const Eigen::MatrixXd centred_x = x.rowwise() - covariance.mean_x.transpose();
  const Eigen::MatrixXd centred_y = y.rowwise() - covariance.mean_y.transpose();
  covariance.xy = centred_x.transpose() * weights.asDiagonal() * centred_y;
  covariance.xx = centred_x.transpose() * weights.asDiagonal() * centred_x;
  covariance.yy = centred_y.transpose() * weights.asDiagonal() * centred_y;
  return covariance;
}

Estimator<double> estimator_of(OwnKind kind, const Covariance& covariance, double ridge = kRidge) {
  const auto rank = static_cast<std::size_t>(std::min(covariance.xy.rows(), covariance.xy.cols()));
  switch (kind) {
    case OwnKind::kExact: return Estimator<double>::phsic(covariance, 0, true, 1);
    case OwnKind::kUncentred: return Estimator<double>::phsic(covariance, 0, false, 1);
    case OwnKind::kAtRank: return Estimator<double>::phsic(covariance, rank, true, 1);
    case OwnKind::kWhitened:
      return Estimator<double>::whitened(covariance, canonical_basis(covariance, ridge, rank, 1));
    case OwnKind::kGaussianPmi: break;
  }
  return Estimator<double>::gaussian_pmi(covariance, canonical_basis(covariance, ridge, rank, 1));
}

// Pairs with as many dimensions on both sides, so that full rank is that of both.
struct Corpus {
  Corpus(std::size_t pairs, std::uint32_t dim, std::uint64_t seed)
      : stream(
            make_stream<double>({.dim_x = dim, .dim_y = dim, .pairs = pairs, .offset = 0.3}, seed)),
        x(rows_of(stream.x)),
        y(rows_of(stream.y)) {}

  static Eigen::MatrixXd rows_of(const ItemBlock<double>& items) {
    const auto rows = std::get<DenseRows<double>>(items.view());
    Eigen::MatrixXd matrix(static_cast<Eigen::Index>(rows.rows),
                           static_cast<Eigen::Index>(rows.dim));
    for (std::size_t i = 0; i < rows.rows; ++i) {
      matrix.row(static_cast<Eigen::Index>(i)) =
          Eigen::Map<const Eigen::RowVectorXd>(rows.row(i), static_cast<Eigen::Index>(rows.dim));
    }
    return matrix;
  }

  [[nodiscard]] double score(const Estimator<double>& estimator, std::size_t i,
                             double share) const {
    Workspace workspace;
    double found = 0;
    estimator.score(slice(stream.x.view(), i, 1), slice(stream.y.view(), i, 1), &found, workspace,
                    &share);
    return found;
  }

  Stream<double> stream;
  Eigen::MatrixXd x;
  Eigen::MatrixXd y;
};

std::vector<std::size_t> some_of(std::size_t pairs) {
  return {0, 1, pairs / 3, pairs / 2, pairs - 2, pairs - 1};
}

// A ridge is a multiple of the mean variance. This one adds the same as before the pair was taken
// out, but for the weight that all lost.
double same_ridge(double trace, double trace_without, double share) {
  return kRidge * trace / (1 - share) / trace_without;
}

TEST_CASE("phsic without a pair's share is phsic that never learned the pair", "[oracle]") {
  for (const auto kind : {OwnKind::kExact, OwnKind::kUncentred, OwnKind::kAtRank}) {
    CAPTURE(static_cast<int>(kind));
    require_law("phsic without own share", 1e-8, [kind](std::uint64_t seed, Way way) {
      Random random(seed);
      const std::size_t pairs = 50 + random.below(200);
      const Corpus corpus(pairs, static_cast<std::uint32_t>(2 + random.below(10)), seed);
      const auto whole = estimator_of(kind, covariance_of(corpus.x, corpus.y, std::nullopt));
      // Wrong: half of the share.
      const double share = (way == Way::kRight ? 1 : 0.5) / static_cast<double>(pairs);
      std::vector<double> found;
      std::vector<double> expected;
      for (const std::size_t i : some_of(pairs)) {
        const auto others =
            estimator_of(kind, covariance_of(corpus.x, corpus.y, static_cast<Eigen::Index>(i)));
        found.push_back(corpus.score(whole, i, share));
        expected.push_back(corpus.score(others, i, 0));
      }
      return relative_distance(found, expected);
    });
  }
}

// What a model of all other pairs would say whose ridge adds what it added before (see
// same_ridge()), from the definitions.
struct RidgeOracle {
  RidgeOracle(const Corpus& corpus, const Covariance& whole, std::size_t i) {
    const double share = 1 / static_cast<double>(corpus.stream.size());
    const auto without = covariance_of(corpus.x, corpus.y, static_cast<Eigen::Index>(i));
    const auto factor = [&](const Eigen::MatrixXd& c, const Eigen::MatrixXd& others) {
      const auto d = static_cast<double>(c.rows());
      return Eigen::MatrixXd(others + same_ridge(c.trace(), others.trace(), share) *
                                          others.trace() / d *
                                          Eigen::MatrixXd::Identity(c.rows(), c.cols()));
    };
    xx = factor(whole.xx, without.xx);
    yy = factor(whole.yy, without.yy);
    xy = without.xy;
    x = corpus.x.row(static_cast<Eigen::Index>(i)).transpose() - without.mean_x;
    y = corpus.y.row(static_cast<Eigen::Index>(i)).transpose() - without.mean_y;
  }

  [[nodiscard]] double whitened() const { return x.dot(xx.ldlt().solve(xy * yy.ldlt().solve(y))); }

  [[nodiscard]] double gaussian_pmi() const {
    Eigen::MatrixXd joint(xx.rows() + yy.rows(), xx.rows() + yy.rows());
    joint << xx, xy, xy.transpose(), yy;
    Eigen::VectorXd both(joint.rows());
    both << x, y;
    return log_density(both, joint) - log_density(x, xx) - log_density(y, yy);
  }

  // But for a constant that cancels.
  static double log_density(const Eigen::VectorXd& z, const Eigen::MatrixXd& c) {
    const Eigen::LLT<Eigen::MatrixXd> factor(c);
    const double half_log = factor.matrixLLT().diagonal().array().log().sum();
    return -half_log - 0.5 * z.dot(factor.solve(z));
  }

  Eigen::MatrixXd xx;
  Eigen::MatrixXd yy;
  Eigen::MatrixXd xy;
  Eigen::VectorXd x;
  Eigen::VectorXd y;
};

TEST_CASE("With the ridge as it was, no trace of a pair is left in its score", "[oracle]") {
  for (const auto kind : {OwnKind::kWhitened, OwnKind::kGaussianPmi}) {
    CAPTURE(static_cast<int>(kind));
    require_law("own share out, same ridge", 1e-7, [kind](std::uint64_t seed, Way way) {
      Random random(seed);
      const std::size_t pairs = 50 + random.below(200);
      const Corpus corpus(pairs, static_cast<std::uint32_t>(3 + random.below(10)), seed);
      const auto whole = covariance_of(corpus.x, corpus.y, std::nullopt);
      const auto estimator = estimator_of(kind, whole);
      // Wrong: half of the share.
      const double share = (way == Way::kRight ? 1 : 0.5) / static_cast<double>(pairs);
      std::vector<double> found;
      std::vector<double> expected;
      for (const std::size_t i : some_of(pairs)) {
        const RidgeOracle oracle(corpus, whole, i);
        found.push_back(corpus.score(estimator, i, share));
        expected.push_back(kind == OwnKind::kWhitened ? oracle.whitened() : oracle.gaussian_pmi());
      }
      return relative_distance(found, expected);
    });
  }
}

TEST_CASE("Taking the own share out leaves a tenth of its effect at most", "[oracle]") {
  for (const auto kind : {OwnKind::kWhitened, OwnKind::kGaussianPmi}) {
    for (const std::size_t pairs : {50, 200, 1000, 5000}) {
      double before = 0;
      double after = 0;
      for (std::uint64_t seed = 1; seed <= 4; ++seed) {
        const Corpus corpus(pairs, 20, seed);
        const auto whole = estimator_of(kind, covariance_of(corpus.x, corpus.y, std::nullopt));
        for (const std::size_t i : some_of(pairs)) {
          const auto others =
              estimator_of(kind, covariance_of(corpus.x, corpus.y, static_cast<Eigen::Index>(i)));
          const double expected = corpus.score(others, i, 0);
          before += std::abs(corpus.score(whole, i, 0) - expected);
          after += std::abs(corpus.score(whole, i, 1 / static_cast<double>(pairs)) - expected);
        }
      }
      CAPTURE(static_cast<int>(kind), pairs, before, after);
      CHECK(after < 0.1 * before);
    }
  }
}

TEST_CASE("Leverages of 1 and more, and shares of everything, give finite scores") {
  for (const auto kind :
       {EstimatorKind::kPhsic, EstimatorKind::kWhitened, EstimatorKind::kGaussianPmi}) {
    for (const double share : {1e-9, 0.01, 0.5, 1.0, 3.0}) {
      for (const double squared : {0.0, 1.0, 99.0, 100.0, 1e12}) {
        for (const double score : {-1e12, -1.0, 0.0, 100.0}) {
          CAPTURE(static_cast<int>(kind), share, squared, score);
          CHECK(
              std::isfinite(without_own_part(kind, true, 1, score, {share, squared, 2 * squared})));
        }
      }
    }
  }
}

// A model of pairs of any kind of item, some of whose rows are bad.
template <class T>
struct OwnScored {
  OwnScored(ItemKind kind, EstimatorKind estimator, std::uint64_t seed) : random(seed) {
    stream = make_stream<T>({.kind = kind, .dim_x = 30, .dim_y = 25, .pairs = 300}, seed);
    StreamConfig config;
    config.x = {stream.x.shape(), Kernel::linear(), 0};
    config.y = {stream.y.shape(), Kernel::cosine(), 0};
    Learner<T> learner(config);
    learner.learn(stream.x.view(), stream.y.view(), nullptr, nullptr, nullptr);
    EstimatorSpec spec;
    spec.kind = estimator;
    model = refresh(learner, spec, Learner<T>::Extent::kAll).model;
    for (std::size_t i = 0; i < stream.size(); ++i) {
      shares.push_back(i % 3 == 0 ? 0 : static_cast<double>(i % 3) / 300);
    }
  }

  [[nodiscard]] std::vector<double> scores(std::size_t most, bool takes_out) {
    std::vector<double> all(stream.size());
    for (std::size_t first = 0; first < all.size();) {
      const std::size_t count = std::min(1 + random.below(most), all.size() - first);
      model->score(slice(stream.x.view(), first, count), slice(stream.y.view(), first, count),
                   all.data() + first, nullptr, scratch, takes_out ? &shares[first] : nullptr);
      first += count;
    }
    return all;
  }

  Random random;
  Stream<T> stream;
  std::shared_ptr<const Model<T>> model;
  std::vector<double> shares;
  ScoreScratch<T> scratch;
};

TEMPLATE_TEST_CASE("Without its own share a score's bits are its pair's, too", "[law]", float,
                   double) {
  for (const auto kind : {ItemKind::kDense, ItemKind::kSparse}) {
    for (const auto estimator :
         {EstimatorKind::kPhsic, EstimatorKind::kWhitened, EstimatorKind::kGaussianPmi}) {
      CAPTURE(static_cast<int>(kind), static_cast<int>(estimator));
      OwnScored<TestType> scored(kind, estimator, 3);
      const auto plain = scored.scores(1000, false);
      const auto together = scored.scores(1000, true);
      for (const std::size_t most : {1, 5, 64}) REQUIRE(scored.scores(most, true) == together);
      for (std::size_t i = 0; i < plain.size(); ++i) {
        if (scored.shares[i] == 0) REQUIRE(together[i] == plain[i]);
        if (scored.shares[i] > 0) REQUIRE(together[i] != plain[i]);
      }
    }
  }
}

TEST_CASE("Sparse rows lose the share that the same rows lose when dense") {
  OwnScored<double> sparse(ItemKind::kSparse, EstimatorKind::kPhsic, 5);
  const auto expected = sparse.scores(1000, true);
  const auto x = densified(sparse.stream.x);
  Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> rows =
      Corpus::rows_of(densified(sparse.stream.y));
  rows.rowwise().normalize();
  const auto covariance = covariance_of(Corpus::rows_of(x), rows, std::nullopt);
  const auto estimator = Estimator<double>::phsic(covariance, 0, true, 1);
  std::vector<double> found(expected.size());
  Workspace workspace;
  estimator.score(x.view(), DenseRows<double>{rows.data(), found.size(), std::size_t(rows.cols())},
                  found.data(), workspace, sparse.shares.data());
  CHECK(relative_distance(found, expected) < 1e-8);
}

}  // namespace
}  // namespace phsic::test
