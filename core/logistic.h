// Logistic regression: from rows of numbers to the log odds of being positive.
//
// Each column is taken in deviations from its mean over the rows it was fitted to, clipped at
// kMostDeviations, so that columns of any scale may stand side by side, and one wild value decides
// nothing. Fitted by Newton's method with an L2 penalty: the optimum is unique, and the same rows
// give the same bits. An immutable value.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <span>
#include <vector>

#include "core/archive.h"

namespace phsic {

using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// How columns become comparable.
class Standardiser {
 public:
  static constexpr double kMostDeviations = 6;

  Standardiser() = default;
  // Of rows with these weights, not negative. A column that does not vary becomes 0.
  Standardiser(const RowMatrix& rows, std::span<const double> weights);

  [[nodiscard]] std::size_t columns() const { return mean_.size(); }
  // Writes columns() values; what is not finite becomes 0. `out` may be `row`.
  void apply(const double* row, double* out) const;

  void save(Writer& writer) const;
  [[nodiscard]] static Standardiser load(Reader& reader);
  bool operator==(const Standardiser&) const = default;

 private:
  std::vector<double> mean_;
  std::vector<double> scale_;  // 1 / deviation; 0 where there is none
};

struct Logistic {
  std::vector<double> weights;  // of standardised columns
  double intercept = 0;

  // Finite for standardised columns.
  [[nodiscard]] double log_odds(const double* standardised) const;

  void save(Writer& writer) const;
  [[nodiscard]] static Logistic load(Reader& reader, std::size_t columns);
  bool operator==(const Logistic&) const = default;
};

// The regression of the rows that are positive against the others, each row counting as much as
// its weight: the minimum of the mean loss of a row and half of `penalty` times the sum of squared
// coefficients, the intercept's left out. `begin` is where the search begins; empty: at 0.
// REQUIRES: standardised rows, as many labels and weights as rows, weights that are not negative.
[[nodiscard]] Logistic fit_logistic(const RowMatrix& rows, std::span<const unsigned char> positive,
                                    std::span<const double> weights, double penalty,
                                    const Logistic& begin = {});

}  // namespace phsic
