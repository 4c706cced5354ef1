// What the answers should be, computed from the definitions in double, without the core's algebra.
// A benchmark whose answer differs throws WrongAnswer.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "core/estimator.h"
#include "core/model.h"

namespace phsic::bench {

class WrongAnswer : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// REQUIRES: |found - expected| <= tolerance, else throws; a NaN throws too.
void require_close(std::string_view what, double found, double expected, double tolerance);

using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

[[nodiscard]] Rows as_rows(const std::vector<float>& values, std::size_t dim);
[[nodiscard]] Rows to_unit(Rows rows);
// Rows a(x) with a(x).a(x') = k_P(x)^T K_PP^-1 k_P(x'), k the map's Gaussian, P its pivots.
[[nodiscard]] Rows by_pivots(const Rows& items, const FeatureMap<float>& map);

// The scores of the first `count` pairs by equation 5 of Yokoi et al. (2018):
// (1/n) sum_i k~(x, x_i) l~(y, y_i), k~ and l~ being products of centred features.
[[nodiscard]] std::vector<double> phsic_by_definition(const Rows& x, const Rows& y,
                                                      std::size_t count);

// The log density ratio of jointly Gaussian features, term by term over the basis (estimator.h),
// which is the core's: building one has a check of its own.
[[nodiscard]] std::vector<double> pmi_by_definition(const Covariance& covariance,
                                                    const CanonicalBasis& basis, const Rows& x,
                                                    const Rows& y, std::size_t count);

// The found scores, each within `tolerance` times the largest of the expected ones.
// There may be fewer of these: the first are compared.
void check_scores(std::string_view what, const std::vector<double>& found,
                  const std::vector<double>& expected, double tolerance);

// A few rows of C_xy, and of C_xx and C_yy where they are kept, against sums over the features.
void check_covariance(std::string_view what, const Covariance& found, const Rows& x, const Rows& y);

}  // namespace phsic::bench
