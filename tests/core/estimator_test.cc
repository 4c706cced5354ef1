// Estimators against the definitions they are closed forms of.
#include "core/estimator.h"

#include <Eigen/Dense>
#include <catch2/catch.hpp>
#include <cmath>

#include "core/svd.h"
#include "tests/core/law.h"
#include "tests/core/oracle.h"
#include "tests/core/scene.h"

namespace phsic::test {
namespace {

using Linear = Subject<double, ItemKind::kDense, "linear", "linear">;

// A covariance as a stream would have it, and points to score.
struct Setting {
  explicit Setting(std::uint64_t seed) : scene(seed) {
    learner.emplace(scene.learner());
    scene.feed(*learner, scene.stream);
    covariance = scene.learned(*learner);
  }
  [[nodiscard]] std::vector<double> scores(const Estimator<double>& estimator) const {
    std::vector<double> result(scene.test.size());
    Workspace workspace;
    estimator.score(scene.test.x.view(), scene.test.y.view(), result.data(), workspace);
    return result;
  }
  [[nodiscard]] std::size_t full_rank() const {
    return std::size_t(std::min(covariance.xy.rows(), covariance.xy.cols()));
  }
  [[nodiscard]] Eigen::VectorXd row(const ItemBlock<double>& items, std::size_t i) const {
    return Eigen::Map<const Eigen::VectorXd>(std::get<DenseRows<double>>(items.view()).row(i),
                                             items.shape().dim);
  }
  Scene<Linear> scene;
  std::optional<Learner<double>> learner;
  Covariance covariance;
};

Eigen::MatrixXd with_ridge(const Eigen::MatrixXd& c, double ridge) {
  return c + ridge * c.trace() / double(c.rows()) * Eigen::MatrixXd::Identity(c.rows(), c.cols());
}

TEST_CASE("gaussian-pmi is the log ratio of the normal densities", "[oracle]") {
  require_law("gaussian-pmi = log p(x,y) / p(x)p(y)", 1e-8, [](std::uint64_t seed, Way way) {
    const Setting s(seed);
    const double ridge = 0.02 + 0.1 * double(seed % 7);
    const auto basis = canonical_basis(s.covariance, ridge, s.full_rank(), 1);
    if (basis.rho(0) >= kMaxCorrelation) return way == Way::kRight ? 0.0 : 1.0;
    const auto found = s.scores(Estimator<double>::gaussian_pmi(s.covariance, basis));

    const Eigen::MatrixXd cxx = with_ridge(s.covariance.xx, ridge);
    const Eigen::MatrixXd cyy = with_ridge(s.covariance.yy, ridge);
    // Wrong: the marginals without the ridge.
    const Eigen::MatrixXd& marginal_x = way == Way::kRight ? cxx : s.covariance.xx;
    Eigen::MatrixXd joint(cxx.rows() + cyy.rows(), cxx.rows() + cyy.rows());
    joint << cxx, s.covariance.xy, s.covariance.xy.transpose(), cyy;
    Eigen::VectorXd mean(joint.rows());
    mean << s.covariance.mean_x, s.covariance.mean_y;
    std::vector<double> expected;
    for (std::size_t i = 0; i < s.scene.test.size(); ++i) {
      const Eigen::VectorXd x = s.row(s.scene.test.x, i);
      const Eigen::VectorXd y = s.row(s.scene.test.y, i);
      Eigen::VectorXd z(joint.rows());
      z << x, y;
      expected.push_back(log_normal_density(z, mean, joint) -
                         log_normal_density(x, s.covariance.mean_x, marginal_x) -
                         log_normal_density(y, s.covariance.mean_y, cyy));
    }
    return relative_distance(found, expected);
  });
}

TEST_CASE("whitened is x^T C_xx^-1 C_xy C_yy^-1 y", "[oracle]") {
  require_law("whitened", 1e-8, [](std::uint64_t seed, Way way) {
    const Setting s(seed);
    const double ridge = 0.05;
    const auto basis = canonical_basis(s.covariance, ridge, s.full_rank(), 1);
    const auto found = s.scores(Estimator<double>::whitened(s.covariance, basis));
    const Eigen::MatrixXd inverse_x = with_ridge(s.covariance.xx, ridge).inverse();
    // Wrong: another ridge on the other side.
    const Eigen::MatrixXd inverse_y =
        with_ridge(s.covariance.yy, way == Way::kRight ? ridge : 2 * ridge).inverse();
    std::vector<double> expected;
    for (std::size_t i = 0; i < s.scene.test.size(); ++i) {
      expected.push_back((s.row(s.scene.test.x, i) - s.covariance.mean_x).transpose() * inverse_x *
                         s.covariance.xy * inverse_y *
                         (s.row(s.scene.test.y, i) - s.covariance.mean_y));
    }
    return relative_distance(found, expected);
  });
}

// A matrix with the given singular values.
Eigen::MatrixXd matrix_with(const Eigen::VectorXd& values, Eigen::Index rows, Eigen::Index cols,
                            std::uint64_t seed) {
  Random random(seed);
  const auto orthonormal = [&](Eigen::Index n) {
    Eigen::MatrixXd a(n, values.size());
    for (Eigen::Index i = 0; i < a.size(); ++i) a.data()[i] = random.normal();
    blas::orthonormalise(a);
    return a;
  };
  return orthonormal(rows) * values.asDiagonal() * orthonormal(cols).transpose();
}

TEST_CASE("The randomised SVD finds what the exact one finds", "[oracle]") {
  require_law("truncated SVD", 5e-3, [](std::uint64_t seed, Way way) {
    Random random(seed);
    const auto rows = Eigen::Index(120 + random.below(80));
    const auto cols = Eigen::Index(120 + random.below(80));
    const std::size_t rank = 8 + random.below(12);
    Eigen::VectorXd values(std::min(rows, cols));
    for (Eigen::Index i = 0; i < values.size(); ++i) values(i) = std::pow(double(i) + 1, -1.0);
    const Eigen::MatrixXd a = matrix_with(values, rows, cols, seed);
    const blas::Svd found = truncated_svd(a, rank, seed);
    const blas::Svd exact = blas::thin_svd(a);
    // Wrong: the triplets that come after the largest.
    const Eigen::Index skip = way == Way::kRight ? 0 : 1;
    const auto r = Eigen::Index(rank);
    const Eigen::MatrixXd difference = found.u * found.s.asDiagonal() * found.v.transpose() -
                                       exact.u.middleCols(skip, r) *
                                           exact.s.segment(skip, r).asDiagonal() *
                                           exact.v.middleCols(skip, r).transpose();
    REQUIRE((found.u.transpose() * found.u).isIdentity(1e-10));
    REQUIRE((found.v.transpose() * found.v).isIdentity(1e-10));
    return difference.norm() / exact.s.head(r).norm() +
           (found.s - exact.s.segment(skip, r)).cwiseAbs().maxCoeff();
  });
}

TEST_CASE("One x against many y scores like the pairs") {
  const Setting s(7);
  const auto basis = canonical_basis(s.covariance, 0.1, s.full_rank(), 1);
  const auto estimator = Estimator<double>::gaussian_pmi(s.covariance, basis);
  std::vector<double> many(s.scene.test.size());
  Workspace workspace;
  estimator.score_one_to_many(slice(s.scene.test.x.view(), 3, 1), s.scene.test.y.view(),
                              many.data(), workspace);
  for (std::size_t j = 0; j < many.size(); ++j) {
    double one = 0;
    estimator.score(slice(s.scene.test.x.view(), 3, 1), slice(s.scene.test.y.view(), j, 1), &one,
                    workspace);
    REQUIRE(many[j] == Approx(one).epsilon(1e-12));
  }
}

TEST_CASE("A side without variance gives scores of 0") {
  Covariance c = two_pass_covariance(Eigen::MatrixXd::Ones(20, 3), Eigen::MatrixXd::Random(20, 2),
                                     std::vector<double>(20, 1));
  const auto basis = canonical_basis(c, 0.1, 2, 1);
  CHECK(basis.rho.size() == 0);
  const auto estimator = Estimator<double>::gaussian_pmi(c, basis);
  const auto x = block_of_row<double>({1, 2, 3});
  const auto y = block_of_row<double>({1, 2});
  double score = 1;
  Workspace workspace;
  estimator.score(x.view(), y.view(), &score, workspace);
  CHECK(score == 0);
}

TEST_CASE("A ridge that is not positive is refused") {
  const Setting s(1);
  for (const double ridge : {0.0, -1.0, std::nan(""), double{INFINITY}}) {
    CHECK_THROWS_WITH(canonical_basis(s.covariance, ridge, 2, 1),
                      Catch::Contains("expected a positive number"));
  }
}

TEST_CASE("A perfect correlation is clipped and stays finite") {
  Eigen::MatrixXd x = Eigen::MatrixXd::Random(50, 3);
  const Covariance c = two_pass_covariance(x, x, std::vector<double>(50, 1));
  const auto basis = canonical_basis(c, 1e-12, 3, 1);
  CHECK(basis.rho.maxCoeff() == kMaxCorrelation);
  const auto estimator = Estimator<double>::gaussian_pmi(c, basis);
  const auto point = block_of_row<double>({0.1, -0.2, 0.3});
  double score = 0;
  Workspace workspace;
  estimator.score(point.view(), point.view(), &score, workspace);
  CHECK(std::isfinite(score));
  CHECK(score > 0);
}

}  // namespace
}  // namespace phsic::test
