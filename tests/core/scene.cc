#include "tests/core/scene.h"

#include <cmath>
#include <limits>
#include <variant>

#include "core/estimator.h"
#include "core/workspace.h"
#include "tests/core/oracle.h"

namespace phsic::test {

template <class T>
Eigen::MatrixXd feature_matrix(const FeatureMap<T>& map, const ItemBlock<T>& items) {
  FeatureBlock<T> block;
  Workspace workspace;
  map.map(items.view(), block, workspace);
  Eigen::MatrixXd result =
      Eigen::MatrixXd::Zero(Eigen::Index(items.size()), Eigen::Index(map.dim()));
  if (const auto* dense = std::get_if<DenseRows<T>>(&block.features)) {
    for (std::size_t i = 0; i < dense->rows; ++i) {
      for (std::size_t j = 0; j < dense->dim; ++j) {
        result(Eigen::Index(i), Eigen::Index(j)) = double(dense->row(i)[j]);
      }
    }
  } else {
    const auto& sparse = std::get<SparseRows<T>>(block.features);
    for (std::size_t i = 0; i < sparse.rows; ++i) {
      for (std::size_t e = sparse.start[i]; e < sparse.start[i + 1]; ++e) {
        result(Eigen::Index(i), Eigen::Index(sparse.index[e])) = double(sparse.value[e]);
      }
    }
  }
  return result;
}

double relative_distance(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() != b.size()) return std::numeric_limits<double>::infinity();
  double mean = 0;
  for (const double value : b) mean += value / double(b.size());
  double squares = 0;
  double largest = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    squares += (b[i] - mean) * (b[i] - mean) / double(b.size());
    largest = std::max(largest, std::abs(a[i] - b[i]));
    if (std::isnan(a[i] - b[i])) return std::numeric_limits<double>::infinity();
  }
  return largest / (std::sqrt(squares) + 1e-300);
}

template <class T>
AnyScene<T>::AnyScene(const AnySubject& subject, std::uint64_t seed, std::size_t least,
                      std::size_t most)
    : random(seed) {
  StreamShape shape;
  shape.kind = subject.kind;
  shape.dim_x = static_cast<std::uint32_t>(3 + random.below(5));
  shape.dim_y = static_cast<std::uint32_t>(3 + random.below(5));
  shape.pairs = least + random.below(most - least + 1);
  shape.offset = subject.kind == ItemKind::kDense ? 3 * random.uniform() : 0;
  stream = make_stream<T>(shape, random.bits());
  test = part(stream, 0, 30);
  config.x = {stream.x.shape(), subject.kernel_x, 0};
  config.y = {stream.y.shape(), subject.kernel_y, 0};
  if (config.x.uses_pivots()) config.x.pivots = static_cast<std::uint32_t>(3 + random.below(6));
  if (config.y.uses_pivots()) config.y.pivots = static_cast<std::uint32_t>(3 + random.below(6));
  config.held_back = static_cast<std::uint32_t>(random.below(100));
  config.seed = random.bits();
  Learner<T> first(config);
  feed(first, part(stream, 0, 40));
  pivots = first.propose_pivots();
}

template <class T>
Learner<T> AnyScene<T>::learner(const StreamConfig& of) const {
  Learner<T> fresh(of);
  if (pivots) fresh.adopt(*pivots);
  return fresh;
}

template <class T>
void AnyScene<T>::feed(Learner<T>& into, const Stream<T>& pairs, const std::vector<double>& weights,
                       const std::vector<double>& times) {
  for (std::size_t first = 0; first < pairs.size();) {
    const std::size_t count = std::min<std::size_t>(1 + random.below(300), pairs.size() - first);
    const std::size_t learned =
        into.learn(slice(pairs.x.view(), first, count), slice(pairs.y.view(), first, count),
                   weights.empty() ? nullptr : weights.data() + first,
                   times.empty() ? nullptr : times.data() + first, nullptr);
    if (learned != count) throw Error("a good pair was refused");
    first += count;
  }
}

template <class T>
Covariance AnyScene<T>::batch(const Learner<T>& like, const Stream<T>& pairs,
                              const std::vector<double>& weights) const {
  return two_pass_covariance(feature_matrix(*like.map_x(), pairs.x),
                             feature_matrix(*like.map_y(), pairs.y), weights);
}

template <class T>
Covariance AnyScene<T>::learned(const Learner<T>& learner) {
  return learner.moments(Learner<T>::Extent::kAll).covariance();
}

template <class T>
std::vector<std::vector<double>> AnyScene<T>::scores(const Learner<T>& like,
                                                     const Covariance& covariance,
                                                     const Stream<T>& pairs) const {
  const auto rank = std::size_t(std::min(covariance.xy.rows(), covariance.xy.cols()));
  const CanonicalBasis basis = canonical_basis(covariance, 0.1, rank, 1);
  const Estimator<T> estimators[] = {
      Estimator<T>::phsic(covariance, 0, true, 1), Estimator<T>::phsic(covariance, rank, true, 1),
      Estimator<T>::phsic(covariance, 0, false, 1), Estimator<T>::whitened(covariance, basis),
      Estimator<T>::gaussian_pmi(covariance, basis)};
  FeatureBlock<T> x;
  FeatureBlock<T> y;
  Workspace workspace;
  like.map_x()->map(pairs.x.view(), x, workspace);
  like.map_y()->map(pairs.y.view(), y, workspace);
  std::vector<std::vector<double>> all;
  for (const Estimator<T>& estimator : estimators) {
    all.emplace_back(pairs.size());
    estimator.score(x.features, y.features, all.back().data(), workspace);
  }
  return all;
}

template <class T>
double AnyScene<T>::distance(const Learner<T>& like, const Covariance& a,
                             const Covariance& b) const {
  const auto left = scores(like, a, test);
  const auto right = scores(like, b, test);
  double largest = 0;
  for (std::size_t e = 0; e < left.size(); ++e) {
    largest = std::max(largest, relative_distance(left[e], right[e]));
  }
  return largest;
}

template <class T>
std::vector<double> AnyScene<T>::random_weights(std::size_t count) {
  std::vector<double> weights(count);
  for (double& weight : weights) weight = 0.2 + 2 * random.uniform();
  return weights;
}

template Eigen::MatrixXd feature_matrix(const FeatureMap<float>&, const ItemBlock<float>&);
template Eigen::MatrixXd feature_matrix(const FeatureMap<double>&, const ItemBlock<double>&);
template struct AnyScene<float>;
template struct AnyScene<double>;

}  // namespace phsic::test
