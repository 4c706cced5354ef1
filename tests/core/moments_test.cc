#include "core/moments.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "tests/core/law.h"
#include "tests/core/oracle.h"
#include "tests/core/streams.h"

namespace phsic::test {
namespace {

Eigen::MatrixXd as_matrix(const ItemBlock<double>& items) {
  const auto rows = std::get<DenseRows<double>>(items.view());
  return Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(
      rows.data, long(rows.rows), long(rows.dim));
}

TEST_CASE("Moving the origin changes no covariance", "[law]") {
  require_law("origin does not matter", 1e-10, [](std::uint64_t seed, Way way) {
    Random random(seed);
    const auto stream = make_stream<double>({.dim_x = 4, .dim_y = 3, .pairs = 50 + seed}, seed);
    Moments moments(4, 3, Moments::Parts::kAll);
    Workspace workspace;
    const auto half = (50 + seed) / 2;
    moments.add(slice(stream.x.view(), 0, half), slice(stream.y.view(), 0, half), nullptr,
                workspace);
    Eigen::VectorXd x = Eigen::VectorXd::Random(4) * 5;
    Eigen::VectorXd y = Eigen::VectorXd::Random(3) * 5;
    moments.move_origin(x, y);
    moments.add(slice(stream.x.view(), half, stream.size() - half),
                slice(stream.y.view(), half, stream.size() - half), nullptr, workspace);
    Covariance expected = two_pass_covariance(as_matrix(stream.x), as_matrix(stream.y),
                                              std::vector<double>(stream.size(), 1));
    // Wrong: the mean is off by what the origin moved.
    if (way == Way::kWrong) expected.mean_x += x;
    const Covariance found = moments.covariance();
    return (found.xy - expected.xy).norm() + (found.xx - expected.xx).norm() +
           (found.yy - expected.yy).norm() + (found.mean_x - expected.mean_x).norm() +
           (found.mean_y - expected.mean_y).norm();
  });
}

TEST_CASE("The float block route keeps the digits of a stream far from 0") {
  // Means of 1000 with deviations of 1: without an origin, float squares would keep none of C.
  const auto precise =
      make_stream<double>({.dim_x = 6, .dim_y = 6, .pairs = 5000, .offset = 1000}, 2);
  const Eigen::MatrixXd x = as_matrix(precise.x);
  const Eigen::MatrixXd y = as_matrix(precise.y);
  const Covariance expected = two_pass_covariance(x, y, std::vector<double>(5000, 1));
  Moments moments(6, 6, Moments::Parts::kAll);
  moments.move_origin(x.row(0).transpose(), y.row(0).transpose());
  const ItemBlock<float> fx = precise.x.cast<float>();
  const ItemBlock<float> fy = precise.y.cast<float>();
  Workspace workspace;
  for (std::size_t first = 0; first < 5000; first += 250) {
    moments.add(slice(fx.view(), first, 250), slice(fy.view(), first, 250), nullptr, workspace);
  }
  const Covariance found = moments.covariance();
  CHECK((found.xy - expected.xy).norm() < 1e-3 * expected.xy.norm());
  CHECK((found.xx - expected.xx).norm() < 1e-3 * expected.xx.norm());
}

TEST_CASE("A million pairs are not summed in float") {
  // One value a pair, all alike but for the sign: a float sum would stop counting at 2^24.
  constexpr std::size_t kPairs = 256;
  std::vector<float> ones(kPairs, 1);
  Moments moments(1, 1, Moments::Parts::kAll);
  Workspace workspace;
  const DenseRows<float> rows{ones.data(), kPairs, 1};
  for (int i = 0; i < 80000; ++i) {
    moments.add(Items<float>(rows), Items<float>(rows), nullptr, workspace);
  }
  CHECK(moments.weight() == 80000.0 * kPairs);
  const Covariance c = moments.covariance();
  CHECK(c.mean_x(0) == 1);
  CHECK(c.xx(0, 0) == 0);
  CHECK(c.effective_pairs == Approx(80000.0 * kPairs));
}

TEST_CASE("Effective pairs are W^2 / W2") {
  Moments moments(1, 1, Moments::Parts::kAll);
  const double values[] = {1, 2, 3};
  const double weights[] = {1, 2, 3};
  Workspace workspace;
  const DenseRows<double> rows{values, 3, 1};
  moments.add(Items<double>(rows), Items<double>(rows), weights, workspace);
  CHECK(moments.covariance().effective_pairs == Approx(36.0 / 14));
}

TEST_CASE("Cross only keeps the cross-covariance and nothing else") {
  const auto stream = make_stream<double>({.dim_x = 5, .dim_y = 4, .pairs = 300}, 3);
  Moments all(5, 4, Moments::Parts::kAll);
  Moments cross(5, 4, Moments::Parts::kCrossOnly);
  Workspace workspace;
  all.add(stream.x.view(), stream.y.view(), nullptr, workspace);
  cross.add(stream.x.view(), stream.y.view(), nullptr, workspace);
  CHECK(cross.covariance().xy == all.covariance().xy);
  CHECK_FALSE(cross.covariance().has_both());
  CHECK_THROWS_WITH(all.merge(cross), Catch::Contains("cannot be merged"));
}

TEST_CASE("Sparse and dense sides mix") {
  const auto sparse =
      make_stream<double>({.kind = ItemKind::kSparse, .dim_x = 40, .dim_y = 3, .pairs = 100}, 4);
  const auto dense = make_stream<double>({.dim_x = 40, .dim_y = 5, .pairs = 100}, 5);
  Moments mixed(40, 5, Moments::Parts::kAll);
  Moments plain(40, 5, Moments::Parts::kAll);
  Workspace workspace;
  mixed.add(sparse.x.view(), dense.y.view(), nullptr, workspace);
  plain.add(densified(sparse.x).view(), dense.y.view(), nullptr, workspace);
  CHECK((mixed.covariance().xy - plain.covariance().xy).norm() < 1e-12);
  CHECK((mixed.covariance().xx - plain.covariance().xx).norm() < 1e-12);
}

TEST_CASE("Both sparse routes give the same sums") {
  // Narrow rows in a wide space scatter; wide rows in a narrow one multiply.
  for (const std::uint32_t dim : {8U, 300U}) {
    Random random(dim);
    ItemBlock<double> items({ItemKind::kSparse, dim});
    for (int i = 0; i < 64; ++i) {
      std::vector<std::uint32_t> index;
      std::vector<double> value;
      for (std::uint32_t j = 0; j < dim; ++j) {
        if (random.uniform() > 4.0 / dim) continue;
        index.push_back(j);
        value.push_back(random.normal());
      }
      const std::size_t start[] = {0, index.size()};
      REQUIRE(items.append(SparseRows<double>{start, index.data(), value.data(), 1, dim}, 0) ==
              Fault::kNone);
    }
    std::vector<double> weights(64);
    for (double& weight : weights) weight = random.uniform();
    Moments sparse(dim, dim, Moments::Parts::kAll);
    Moments dense(dim, dim, Moments::Parts::kAll);
    Workspace workspace;
    sparse.add(items.view(), items.view(), weights.data(), workspace);
    const ItemBlock<double> written_out = densified(items);
    dense.add(written_out.view(), written_out.view(), weights.data(), workspace);
    CHECK((sparse.covariance().xy - dense.covariance().xy).norm() < 1e-12);
    CHECK((sparse.covariance().yy - dense.covariance().yy).norm() < 1e-12);
    CHECK((sparse.covariance().mean_x - dense.covariance().mean_x).norm() < 1e-12);
  }
}

}  // namespace
}  // namespace phsic::test
