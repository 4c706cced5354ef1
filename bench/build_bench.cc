// From covariances of dimension 1024 to a gaussian-pmi estimator of rank 256.
#include <fmt/format.h>

#include <cmath>

#include "bench/bare.h"
#include "bench/measures.h"
#include "bench/oracle.h"
#include "bench/race.h"
#include "core/random.h"
#include "core/refresh.h"

namespace phsic::bench {
namespace {

constexpr Eigen::Index kDim = 1024;
constexpr std::size_t kRank = 256;

// Variances and correlations that decay slowly, as those of embeddings do: no gap tells the kept
// directions from the rest.
Eigen::VectorXd variances() { return Eigen::VectorXd::LinSpaced(kDim, 1, kDim).array().pow(-0.5); }
Eigen::VectorXd correlations() {
  return 0.95 * Eigen::VectorXd::LinSpaced(kDim, 1, kDim).array().pow(-0.4);
}

// A rotation that mixes all directions: a product of reflections.
Eigen::MatrixXd rotation(std::uint64_t seed) {
  Random random(seed);
  Eigen::MatrixXd q = Eigen::MatrixXd::Identity(kDim, kDim);
  for (int reflection = 0; reflection < 8; ++reflection) {
    const Eigen::VectorXd v =
        Eigen::VectorXd::NullaryExpr(kDim, [&] { return random.normal(); }).normalized();
    q -= 2 * v * (v.transpose() * q);
  }
  return q;
}

// Canonical correlations are known by construction.
Covariance known_covariance() {
  const Eigen::MatrixXd q_x = rotation(1);
  const Eigen::MatrixXd q_y = rotation(2);
  Covariance c;
  c.weight = c.effective_pairs = 1e6;
  c.mean_x = Eigen::VectorXd::Constant(kDim, 0.1);
  c.mean_y = Eigen::VectorXd::Constant(kDim, -0.1);
  c.xx = q_x * variances().asDiagonal() * q_x.transpose();
  c.yy = q_y * variances().asDiagonal() * q_y.transpose();
  c.xy = q_x * variances().cwiseProduct(correlations()).asDiagonal() * q_y.transpose();
  return c;
}

void check_basis(const Covariance& c, const CanonicalBasis& basis) {
  const double lift = kDefaultRidge * variances().mean();
  const Eigen::VectorXd rho =
      correlations().array() * variances().array() / (variances().array() + lift);
  constexpr Eigen::Index kChecked = 32;
  for (Eigen::Index i = 0; i < kChecked; ++i) {
    require_close(fmt::format("canonical correlation {}", i), basis.rho(i), rho(i), 1e-3);
    for (Eigen::Index j = 0; j < kChecked; ++j) {
      const double same = i == j ? 1 : 0;
      require_close(
          fmt::format("whiteness of {}, {}", i, j),
          basis.x.col(i).dot(c.xx * basis.x.col(j)) + lift * basis.x.col(i).dot(basis.x.col(j)),
          same, 1e-9);
    }
  }
  // Randomised, the last directions are not exactly the best ones, but nearly as good.
  const auto kept = static_cast<Eigen::Index>(kRank);
  require_close("share of correlation kept", basis.rho.squaredNorm() / rho.head(kept).squaredNorm(),
                1, 0.02);
}

}  // namespace

void build_gaussian_pmi(Report& report) {
  report.note("build gaussian-pmi, d = 1024, r = 256; ratio to 12 bare DGEMM of 1024^3, best of 3");
  const Covariance covariance = known_covariance();
  BareDgemm gemm(static_cast<std::size_t>(kDim));
  CanonicalBasis basis;
  const auto build = [&] {
    basis = canonical_basis(covariance, kDefaultRidge, kRank, 1);
    const auto estimator = Estimator<float>::gaussian_pmi(covariance, basis);
    benchmark::DoNotOptimize(estimator.rank());
  };
  const auto bare = [&] {
    for (int i = 0; i < 12; ++i) gemm();
  };
  const Times times = race(3, build, bare);
  check_basis(covariance, basis);
  report.add("build gaussian-pmi, d = 1024, r = 256, per ridge", times.ratio(), "ratio",
             at_least(1));
  report.add("a build of gaussian-pmi, d = 1024, r = 256", 1e3 * times.ours, "ms");
}

}  // namespace phsic::bench
