#include "core/pivots.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/blas.h"
#include "core/kernel_columns.h"
#include "core/loops.h"
#include "core/random.h"

namespace phsic {
namespace {

// Residuals below this count as 0, since one over their root must be a finite float.
constexpr double kLeastResidual = 1e-30;

// The position of the largest residual, the first of equal ones.
std::size_t choose_greedily(const std::vector<double>& residuals) {
  const auto found = std::max_element(residuals.begin(), residuals.end());
  return static_cast<std::size_t>(found - residuals.begin());
}

// A position drawn with probability proportional to weight times residual. Residuals at or below
// `floor` are never drawn. REQUIRES: some residual above the floor.
std::size_t choose_randomly(const std::vector<double>& residuals,
                            const std::vector<double>& weights, double floor, Random& random) {
  std::vector<double> cumulative(residuals.size());
  double sum = 0;
  std::size_t last = 0;
  for (std::size_t i = 0; i < residuals.size(); ++i) {
    if (residuals[i] > floor) {
      sum += weights[i] * residuals[i];
      last = i;
    }
    cumulative[i] = sum;
  }
  if (sum <= 0) return last;
  const double at = random.uniform() * sum;
  const auto found = std::upper_bound(cumulative.begin(), cumulative.end(), at);
  return std::min(static_cast<std::size_t>(found - cumulative.begin()), last);
}

}  // namespace

PivotChoice choose_pivots(const Kernel& kernel, const ItemBlock<double>& items,
                          const std::vector<double>& weights, std::size_t count, PivotRule rule,
                          double tolerance, std::uint64_t seed) {
  const std::size_t n = items.size();
  PivotChoice choice;
  if (n == 0) return choice;
  const Items<double> view = items.view();
  const KernelColumns<double> columns(kernel, items);
  Workspace workspace;
  Random random(seed);

  std::vector<double> diagonal(n);
  for (std::size_t i = 0; i < n; ++i) diagonal[i] = self_kernel(kernel, view, i);
  std::vector<double> residuals = diagonal;
  std::vector<double> explained(n);  // apart from the residuals: small squares add up unrounded
  const double floor =
      std::max(tolerance * *std::max_element(diagonal.begin(), diagonal.end()), kLeastResidual);

  // Row t holds the t-th coordinate of every item.
  count = std::min(count, n);
  std::vector<double> coordinates(count * n);
  std::vector<double> column(n);
  for (std::size_t t = 0; t < count; ++t) {
    if (*std::max_element(residuals.begin(), residuals.end()) <= floor) break;
    const std::size_t pivot = rule == PivotRule::kGreedy
                                  ? choose_greedily(residuals)
                                  : choose_randomly(residuals, weights, floor, random);
    columns.evaluate(slice(view, pivot, 1), column.data(), workspace);
    for (std::size_t s = 0; s < t; ++s) {
      const double* earlier = coordinates.data() + s * n;
      loops::add_multiple(earlier, n, -earlier[pivot], column.data());
    }
    const double root = std::sqrt(residuals[pivot]);
    double* fresh = coordinates.data() + t * n;
    for (std::size_t i = 0; i < n; ++i) {
      fresh[i] = i == pivot ? root : column[i] / root;
      explained[i] += fresh[i] * fresh[i];
      residuals[i] = std::max(diagonal[i] - explained[i], 0.0);
    }
    for (const std::size_t earlier : choice.chosen) residuals[earlier] = 0;
    residuals[pivot] = 0;
    choice.chosen.push_back(pivot);
  }

  const auto d = static_cast<Eigen::Index>(choice.chosen.size());
  choice.factor = Eigen::MatrixXd::Zero(d, d);
  for (Eigen::Index row = 0; row < d; ++row) {
    for (Eigen::Index s = 0; s <= row; ++s) {
      choice.factor(row, s) = coordinates[static_cast<std::size_t>(s) * n +
                                          choice.chosen[static_cast<std::size_t>(row)]];
    }
  }
  const double left = std::inner_product(residuals.begin(), residuals.end(), weights.begin(), 0.0);
  const double whole = std::inner_product(diagonal.begin(), diagonal.end(), weights.begin(), 0.0);
  choice.unexplained = whole > 0 ? left / whole : 0;
  return choice;
}

template <class T>
void PivotSet<T>::save(Writer& writer) const {
  kernel.save(writer);
  items.save(writer);
  writer.array(std::span<const double>(factor.data(), static_cast<std::size_t>(factor.size())));
}

template <class T>
PivotSet<T> PivotSet<T>::load(Reader& reader) {
  PivotSet pivots{Kernel::load(reader), ItemBlock<T>::load(reader), {}};
  pivots.kernel.require_fits(pivots.items.shape());
  if (!pivots.kernel.is_fitted()) reader.refuse("pivots", "found a kernel that is not fitted");
  const std::size_t d = pivots.items.size();
  const auto factor = reader.finite_array<double>("pivot factor", d * d);
  pivots.factor = Eigen::Map<const Eigen::MatrixXd>(factor.data(), static_cast<Eigen::Index>(d),
                                                    static_cast<Eigen::Index>(d));
  for (Eigen::Index i = 0; i < pivots.factor.rows(); ++i) {
    if (!(pivots.factor(i, i) > 0)) {
      reader.refuse("pivot factor", fmt::format("found {} on the diagonal, expected more than 0",
                                                pivots.factor(i, i)));
    }
  }
  pivots.factor.template triangularView<Eigen::StrictlyUpper>().setZero();
  return pivots;
}

template struct PivotSet<float>;
template struct PivotSet<double>;

}  // namespace phsic
