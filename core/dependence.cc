#include "core/dependence.h"

#include <algorithm>
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>
#include <numeric>
#include <vector>

#include "core/kernel_columns.h"
#include "core/loops.h"
#include "core/random.h"

namespace phsic {
namespace {

constexpr double kFewestPairs = 6;

// The pairs that the pivots come from may make up this share of the variance of a side, at most.
constexpr double kMostByPivots = 0.1;

// Exchanges of the y's. The smallest p-value is 1 / (kPermutations + 1).
constexpr int kPermutations = 499;

std::optional<double> gamma_p_value(const Covariance& covariance, double hsic) {
  const double n = covariance.effective_pairs;
  if (!covariance.has_variance() || n < kFewestPairs) return std::nullopt;
  const double trace_x = covariance.xx.trace();
  const double trace_y = covariance.yy.trace();
  const double mean = trace_x * trace_y / (n - 1);
  const double spread_x = covariance.xx.squaredNorm() - trace_x * trace_x / n;
  const double spread_y = covariance.yy.squaredNorm() - trace_y * trace_y / n;
  const double variance = 2 * (n - 4) * (n - 5) / (n * (n - 1) * (n - 2) * (n - 3)) *
                          std::max(spread_x, 0.0) * std::max(spread_y, 0.0);
  if (!(mean > 0) || !(variance > 0)) return std::nullopt;
  // Beyond this shape the distribution is a point at its mean.
  const double shape = std::min(mean * mean / variance, 1e9);
  const double at = hsic * shape / mean;
  // Products of tiny traces may have underflowed.
  if (!(shape > 0) || !std::isfinite(at)) return std::nullopt;
  using namespace boost::math::policies;
  const double p =
      boost::math::gamma_q(shape, at,
                           policy<domain_error<ignore_error>, overflow_error<ignore_error>,
                                  evaluation_error<ignore_error>>());
  return std::isfinite(p) ? std::optional(p) : std::nullopt;
}

// The share that the pivots' own pairs have in what the features of all pairs add up to. The
// squared norm of the factor is the sum of k(p, p) over the pivots.
template <class T>
double share_of_pivots(const FeatureMap<T>& map, const Eigen::MatrixXd& covariance,
                       const Eigen::VectorXd& mean, double pairs) {
  if (map.pivots() == nullptr) return 0;
  return map.pivots()->factor.squaredNorm() / (pairs * (covariance.trace() + mean.squaredNorm()));
}

template <class T>
double squared_distance_to(const DenseRows<T>& rows, std::size_t i, const Eigen::VectorXd& mean) {
  const Eigen::Map<const Eigen::Matrix<T, Eigen::Dynamic, 1>> row(rows.row(i), mean.size());
  return (row.template cast<double>() - mean).squaredNorm();
}

template <class T>
double squared_distance_to(const SparseRows<T>& rows, std::size_t i, const Eigen::VectorXd& mean) {
  double sum = mean.squaredNorm();
  for (std::size_t k = rows.start[i]; k < rows.start[i + 1]; ++k) {
    const auto value = static_cast<double>(rows.value[k]);
    sum += value * (value - 2 * mean[rows.index[k]]);
  }
  return std::max(sum, 0.0);
}

// Which pairs are tested: drawn without replacement, with probabilities by their weights.
std::vector<std::size_t> draw(const std::vector<double>& weights, std::uint64_t seed) {
  std::vector<std::pair<double, std::size_t>> keys;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const double key = Random(seed, i).exponential() / weights[i];
    if (std::isfinite(key)) keys.emplace_back(key, i);
  }
  const std::size_t count = std::min(keys.size(), kTestedPairs);
  std::partial_sort(keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(count), keys.end());
  std::vector<std::size_t> drawn;
  for (std::size_t k = 0; k < count; ++k) drawn.push_back(keys[k].second);
  return drawn;
}

using GramMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// k(x, x') of all pairs of items, centred.
GramMatrix centred_gram(const Kernel& kernel, const ItemBlock<double>& items) {
  const auto n = static_cast<Eigen::Index>(items.size());
  GramMatrix gram(n, n);
  Workspace workspace;
  KernelColumns<double>(kernel, items).evaluate(items.view(), gram.data(), workspace);
  const Eigen::RowVectorXd means = gram.colwise().mean();
  gram.rowwise() -= means;
  const Eigen::VectorXd row_means = gram.rowwise().mean();
  gram.colwise() -= row_means;
  return gram;
}

// n^2 HSIC of x[i] with y[order[i]].
double statistic(const GramMatrix& x, const GramMatrix& y,
                 const std::vector<std::uint32_t>& order) {
  const std::size_t n = order.size();
  double diagonal = 0;
  double below = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double* row_x = x.data() + i * n;
    const double* row_y = y.data() + order[i] * n;
    below += loops::gathered_dot(row_x, row_y, order.data(), i);
    diagonal += row_x[i] * row_y[order[i]];
  }
  return diagonal + 2 * below;
}

void save_optional(Writer& writer, const std::optional<double>& value) {
  writer.number<std::uint8_t>(value.has_value());
  writer.number(value.value_or(0));
}

std::optional<double> load_optional(Reader& reader, const char* field) {
  const bool present = reader.flag(field);
  const double value = reader.finite(field);
  return present ? std::optional(value) : std::nullopt;
}

}  // namespace

Dependence measure_dependence(const Covariance& covariance) {
  Dependence dependence;
  dependence.hsic = covariance.xy.squaredNorm();
  if (covariance.has_variance()) {
    // Products of features in single precision round differently: equal sides came to 1.00000002.
    dependence.cka = std::min(dependence.hsic / (covariance.xx.norm() * covariance.yy.norm()), 1.0);
  }
  dependence.p_value = gamma_p_value(covariance, dependence.hsic);
  return dependence;
}

template <class T>
bool moments_tell_p_value(const Covariance& covariance, const FeatureMap<T>& x,
                          const FeatureMap<T>& y) {
  const double n = covariance.effective_pairs;
  return !covariance.is_estimated &&
         share_of_pivots(x, covariance.xx, covariance.mean_x, n) <= kMostByPivots &&
         share_of_pivots(y, covariance.yy, covariance.mean_y, n) <= kMostByPivots;
}

template <class T>
double pairs_that_count(const Items<T>& features, const Eigen::VectorXd& mean, double pairs) {
  double sum = 0;
  double squares = 0;
  std::size_t count = 0;
  const auto add = [&](const auto& rows) {
    for (; count < rows.rows; ++count) {
      const double squared = squared_distance_to(rows, count, mean);
      sum += squared;
      squares += squared * squared;
    }
  };
  if (const auto* dense = std::get_if<DenseRows<T>>(&features)) add(*dense);
  if (const auto* sparse = std::get_if<SparseRows<T>>(&features)) add(*sparse);
  if (!(squares > 0)) return pairs;
  return pairs * (sum * sum / squares) / static_cast<double>(count);
}

template <class T>
std::optional<double> permutation_p_value(const Kernel& kernel_x, const Kernel& kernel_y,
                                          const typename Reservoir<T>::Sample& sample,
                                          std::uint64_t seed) {
  const auto drawn = draw(sample.weights, seed);
  if (static_cast<double>(drawn.size()) < kFewestPairs) return std::nullopt;
  const GramMatrix x = centred_gram(kernel_x, sample.x.select(drawn).template cast<double>());
  const GramMatrix y = centred_gram(kernel_y, sample.y.select(drawn).template cast<double>());
  std::vector<std::uint32_t> order(drawn.size());
  std::iota(order.begin(), order.end(), 0U);
  const double found = statistic(x, y, order);
  Random random(seed + 1);
  int as_large = 1;
  for (int k = 0; k < kPermutations; ++k) {
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
    if (statistic(x, y, order) >= found) ++as_large;
  }
  return static_cast<double>(as_large) / (kPermutations + 1);
}

void Dependence::save(Writer& writer) const {
  writer.number(hsic);
  save_optional(writer, cka);
  save_optional(writer, p_value);
}

Dependence Dependence::load(Reader& reader) {
  Dependence dependence;
  dependence.hsic = reader.finite("hsic");
  dependence.cka = load_optional(reader, "cka");
  dependence.p_value = load_optional(reader, "hsic p-value");
  return dependence;
}

#define PHSIC_INSTANTIATE(T)                                                            \
  template double pairs_that_count<T>(const Items<T>&, const Eigen::VectorXd&, double); \
  template bool moments_tell_p_value(const Covariance&, const FeatureMap<T>&,           \
                                     const FeatureMap<T>&);                             \
  template std::optional<double> permutation_p_value<T>(                                \
      const Kernel&, const Kernel&, const Reservoir<T>::Sample&, std::uint64_t);
PHSIC_INSTANTIATE(float)
PHSIC_INSTANTIATE(double)
#undef PHSIC_INSTANTIATE

}  // namespace phsic
