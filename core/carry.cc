#include "core/carry.h"

#include <algorithm>
#include <numeric>

#include "core/blas.h"
#include "core/kernel_columns.h"
#include "core/recent.h"

namespace phsic {
namespace {

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// The sample's pairs in the given features, each weighing weights[i] * factor.
template <class T>
void add_sample(Moments& moments, FeaturePair<T> maps, const typename Reservoir<T>::Sample& sample,
                double factor, Workspace& workspace) {
  const Items<T> x = sample.x.view();
  const Items<T> y = sample.y.view();
  std::vector<double> weights(sample.weights.size());
  std::transform(sample.weights.begin(), sample.weights.end(), weights.begin(),
                 [factor](double w) { return w * factor; });
  FeatureBlock<T> block_x;
  FeatureBlock<T> block_y;
  for (std::size_t first = 0; first < weights.size(); first += kBlockPairs) {
    const std::size_t count = std::min(kBlockPairs, weights.size() - first);
    maps.x.map(slice(x, first, count), block_x, workspace);
    maps.y.map(slice(y, first, count), block_y, workspace);
    moments.add(block_x.features, block_y.features, weights.data() + first, workspace);
  }
}

// What each sampled pair's weight is multiplied by so that together they weigh what the stream
// does.
template <class T>
double sample_factor(const Moments& moments, const typename Reservoir<T>::Sample& sample) {
  const double total = std::accumulate(sample.weights.begin(), sample.weights.end(), 0.0);
  return total > 0 ? moments.weight() / total : 0;
}

template <class T>
double effective_pairs(const typename Reservoir<T>::Sample& sample) {
  double sum = 0;
  double squares = 0;
  for (const double weight : sample.weights) {
    sum += weight;
    squares += weight * weight;
  }
  return squares > 0 ? sum * sum / squares : 0;
}

}  // namespace

template <class T>
Eigen::MatrixXd carry_matrix(const FeatureMap<T>& from, const FeatureMap<T>& to) {
  const auto old_size = static_cast<Eigen::Index>(from.dim());
  const auto new_size = static_cast<Eigen::Index>(to.dim());
  if (&from == &to || from.pivots() == nullptr || to.pivots() == nullptr) {
    return Eigen::MatrixXd::Identity(new_size, old_size);
  }
  const KernelColumns<double> columns(to.kernel(), from.pivots()->items.template cast<double>());
  const ItemBlock<double> fresh = to.pivots()->items.template cast<double>();
  RowMajor values(new_size, old_size);
  Workspace workspace;
  columns.evaluate(fresh.view(), values.data(), workspace);
  Eigen::MatrixXd half = values;
  blas::solve_lower(to.pivots()->factor, half);
  Eigen::MatrixXd result = half.transpose();
  blas::solve_lower(from.pivots()->factor, result);
  return result.transpose();
}

template <class T>
void carry_over(Moments& moments, FeaturePair<T> from, FeaturePair<T> to,
                const typename Reservoir<T>::Sample& sample, Workspace& workspace) {
  const Eigen::MatrixXd carry_x = carry_matrix(from.x, to.x);
  const Eigen::MatrixXd carry_y = carry_matrix(from.y, to.y);
  Moments minus(moments.dim_x(), moments.dim_y(), moments.parts());
  minus.move_origin(moments.origin_x(), moments.origin_y());
  moments.transform(carry_x, carry_y);
  if (!sample.weights.empty()) {
    const double factor = sample_factor<T>(moments, sample);
    add_sample(minus, from, sample, factor, workspace);
    minus.transform(carry_x, carry_y);
    Moments plus(moments.dim_x(), moments.dim_y(), moments.parts());
    plus.move_origin(moments.origin_x(), moments.origin_y());
    add_sample(plus, to, sample, factor, workspace);
    moments.correct(plus, minus);
    moments.limit_effective_pairs(effective_pairs<T>(sample));
  }
  if (sample.weights.size() < moments.pairs()) moments.mark_estimated();
  if (moments.parts() == Moments::Parts::kAll) {
    Covariance covariance = moments.covariance();
    make_positive(covariance);
    moments.assign(covariance, moments.origin_x(), moments.origin_y());
  }
}

template <class T>
void rebuild(Moments& moments, FeaturePair<T> to, const typename Reservoir<T>::Sample& sample,
             Workspace& workspace) {
  Moments fresh(to.x.dim(), to.y.dim(), moments.parts());
  add_sample(fresh, to, sample, sample_factor<T>(moments, sample), workspace);
  const Covariance covariance = fresh.covariance();
  // Dense features are summed about the mean from here on; sparse ones stay about zero.
  const auto origin = [](const FeatureMap<T>& map, const Eigen::VectorXd& mean) {
    return map.is_sparse() ? Eigen::VectorXd(Eigen::VectorXd::Zero(mean.size())) : mean;
  };
  moments.assign(covariance, origin(to.x, covariance.mean_x), origin(to.y, covariance.mean_y));
  moments.limit_effective_pairs(effective_pairs<T>(sample));
  if (sample.weights.size() < moments.pairs()) moments.mark_estimated();
}

void make_positive(Covariance& covariance) {
  const Eigen::Index dim_x = covariance.xx.rows();
  const Eigen::Index dim_y = covariance.yy.rows();
  if (dim_x + dim_y == 0) return;
  Eigen::MatrixXd joint(dim_x + dim_y, dim_x + dim_y);
  joint << covariance.xx, covariance.xy, covariance.xy.transpose(), covariance.yy;
  const blas::Eigenpairs pairs = blas::symmetric_eigen(std::move(joint));
  if (pairs.values(0) >= 0) return;
  const Eigen::MatrixXd scaled =
      pairs.vectors * pairs.values.cwiseMax(0.0).cwiseSqrt().asDiagonal();
  const Eigen::MatrixXd fixed = scaled * scaled.transpose();
  covariance.xx = fixed.topLeftCorner(dim_x, dim_x);
  covariance.xy = fixed.topRightCorner(dim_x, dim_y);
  covariance.yy = fixed.bottomRightCorner(dim_y, dim_y);
}

#define PHSIC_INSTANTIATE(T)                                                                      \
  template Eigen::MatrixXd carry_matrix(const FeatureMap<T>&, const FeatureMap<T>&);              \
  template void carry_over(Moments&, FeaturePair<T>, FeaturePair<T>, const Reservoir<T>::Sample&, \
                           Workspace&);                                                           \
  template void rebuild(Moments&, FeaturePair<T>, const Reservoir<T>::Sample&, Workspace&);
PHSIC_INSTANTIATE(float)
PHSIC_INSTANTIATE(double)
#undef PHSIC_INSTANTIATE

}  // namespace phsic
