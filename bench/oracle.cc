#include "bench/oracle.h"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

namespace phsic::bench {

void require_close(std::string_view what, double found, double expected, double tolerance) {
  if (!(std::abs(found - expected) <= tolerance)) {
    throw WrongAnswer(
        fmt::format("{}: found {}, expected {} to within {}", what, found, expected, tolerance));
  }
}

Rows as_rows(const std::vector<float>& values, std::size_t dim) {
  using FloatRows = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  return Eigen::Map<const FloatRows>(values.data(), static_cast<Eigen::Index>(values.size() / dim),
                                     static_cast<Eigen::Index>(dim))
      .cast<double>();
}

Rows to_unit(Rows rows) {
  rows.rowwise().normalize();
  return rows;
}

Rows by_pivots(const Rows& items, const FeatureMap<float>& map) {
  const auto view = std::get<DenseRows<float>>(map.pivots()->items.view());
  const Rows pivots = as_rows({view.data, view.data + view.rows * view.dim}, view.dim);
  const double sigma = map.kernel().sigma();
  const auto kernel = [&](const auto& a, const auto& b) {
    return std::exp(-(a - b).squaredNorm() / (2 * sigma * sigma));
  };
  Eigen::MatrixXd among(pivots.rows(), pivots.rows());
  Eigen::MatrixXd against(pivots.rows(), items.rows());
  for (Eigen::Index p = 0; p < pivots.rows(); ++p) {
    for (Eigen::Index q = 0; q < pivots.rows(); ++q) {
      among(p, q) = kernel(pivots.row(p), pivots.row(q));
    }
    for (Eigen::Index i = 0; i < items.rows(); ++i) {
      against(p, i) = kernel(pivots.row(p), items.row(i));
    }
  }
  return among.llt().matrixL().solve(against).transpose();
}

std::vector<double> phsic_by_definition(const Rows& x, const Rows& y, std::size_t count) {
  const Rows centred_x = x.rowwise() - x.colwise().mean();
  const Rows centred_y = y.rowwise() - y.colwise().mean();
  std::vector<double> scores;
  for (Eigen::Index i = 0; i < static_cast<Eigen::Index>(count); ++i) {
    double sum = 0;
    for (Eigen::Index j = 0; j < x.rows(); ++j) {
      sum += centred_x.row(i).dot(centred_x.row(j)) * centred_y.row(i).dot(centred_y.row(j));
    }
    scores.push_back(sum / static_cast<double>(x.rows()));
  }
  return scores;
}

std::vector<double> pmi_by_definition(const Covariance& covariance, const CanonicalBasis& basis,
                                      const Rows& x, const Rows& y, std::size_t count) {
  std::vector<double> scores;
  for (Eigen::Index i = 0; i < static_cast<Eigen::Index>(count); ++i) {
    double score = 0;
    for (Eigen::Index k = 0; k < basis.rho.size(); ++k) {
      const double u = basis.x.col(k).dot(x.row(i).transpose() - covariance.mean_x);
      const double v = basis.y.col(k).dot(y.row(i).transpose() - covariance.mean_y);
      const double rho = basis.rho(k);
      score += -0.5 * std::log(1 - rho * rho) +
               (rho * u * v - 0.5 * rho * rho * (u * u + v * v)) / (1 - rho * rho);
    }
    scores.push_back(score);
  }
  return scores;
}

void check_scores(std::string_view what, const std::vector<double>& found,
                  const std::vector<double>& expected, double tolerance) {
  double largest = 0;
  for (const double score : expected) largest = std::max(largest, std::abs(score));
  for (std::size_t i = 0; i < expected.size(); ++i) {
    require_close(fmt::format("{}, score {}", what, i), found[i], expected[i], tolerance * largest);
  }
}

void check_covariance(std::string_view what, const Covariance& found, const Rows& x,
                      const Rows& y) {
  constexpr double kTolerance = 1e-5;
  const Rows centred_x = x.rowwise() - x.colwise().mean();
  const Rows centred_y = y.rowwise() - y.colwise().mean();
  const auto check = [&](const char* part, const Eigen::MatrixXd& c, const Rows& left,
                         const Rows& right) {
    for (const Eigen::Index i : {Eigen::Index{0}, c.rows() / 2, c.rows() - 1}) {
      for (Eigen::Index j = 0; j < c.cols(); ++j) {
        const double expected = left.col(i).dot(right.col(j)) / static_cast<double>(left.rows());
        const double scale =
            left.col(i).norm() * right.col(j).norm() / static_cast<double>(left.rows());
        require_close(fmt::format("{}, {}[{}, {}]", what, part, i, j), c(i, j), expected,
                      kTolerance * scale);
      }
    }
  };
  check("C_xy", found.xy, centred_x, centred_y);
  if (!found.has_both()) return;
  check("C_xx", found.xx, centred_x, centred_x);
  check("C_yy", found.yy, centred_y, centred_y);
}

}  // namespace phsic::bench
