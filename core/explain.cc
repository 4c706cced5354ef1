#include "core/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/blas.h"

namespace phsic {
namespace {

// The sample is projected in chunks of this many rows, so that scratch does not grow with it.
constexpr std::size_t kExplainedRows = 256;

// Features written out with their zeros: in `storage`, or where they are if they are dense.
template <class T>
const T* spread(const Items<T>& features, T* storage) {
  if (const auto* dense = std::get_if<DenseRows<T>>(&features)) return dense->data;
  const auto& sparse = std::get<SparseRows<T>>(features);
  std::fill_n(storage, sparse.rows * sparse.dim, T(0));
  for (std::size_t i = 0; i < sparse.rows; ++i) {
    for (std::size_t e = sparse.start[i]; e < sparse.start[i + 1]; ++e) {
      storage[i * sparse.dim + sparse.index[e]] = sparse.value[e];
    }
  }
  return storage;
}

template <class T>
std::vector<double> shares_of(const typename Reservoir<T>::Sample& sample) {
  const std::size_t size = sample.weights.size();
  if (sample.x.size() != size || sample.y.size() != size) {
    throw Error(
        fmt::format("sample to explain by: found {} x, {} y and {} weights, expected as "
                    "many of each",
                    sample.x.size(), sample.y.size(), size));
  }
  for (const double weight : sample.weights) {
    if (!(weight >= 0) || !std::isfinite(weight)) {
      throw Error(
          fmt::format("sample to explain by: found the weight {}, expected finite weights "
                      "that are not negative",
                      weight));
    }
  }
  std::vector<double> shares = sample.weights;
  const double total = std::accumulate(shares.begin(), shares.end(), 0.0);
  for (double& share : shares) share = total > 0 ? share / total : 0;
  return shares;
}

void require_shape(const char* side, const ItemShape& found, const ItemShape& expected) {
  if (found == expected) return;
  throw Error(fmt::format("sample to explain by: found {} as {}, expected {}", found.to_string(),
                          side, expected.to_string()));
}

}  // namespace

template <class T>
Explainer<T>::Explainer(std::shared_ptr<const Model<T>> model, const Sample& sample)
    : model_(std::move(model)), shares_(shares_of<T>(sample)) {
  const Estimator<T>* estimator = model_->estimator();
  if (estimator == nullptr) return;
  require_shape("x", sample.x.shape(), model_->map_x()->item_shape());
  require_shape("y", sample.y.shape(), model_->map_y()->item_shape());
  x_ = place(sample.x.view(), true);
  y_ = place(sample.y.view(), false);
}

// The sample's coordinates on one side.
template <class T>
typename Explainer<T>::Side Explainer<T>::place(const Items<T>& items, bool is_x) const {
  const Estimator<T>& estimator = *model_->estimator();
  const FeatureMap<T>& map = is_x ? *model_->map_x() : *model_->map_y();
  const std::size_t rows = row_count(items);
  Side side;
  side.mean = is_x && is_exact() ? estimator.mean_x()
              : is_x             ? estimator.mean_u()
                                 : estimator.mean_v();
  side.dim = side.mean.size();
  const bool stays_sparse = is_exact() && map.is_sparse();
  if (stays_sparse) {
    side.sparse = ItemBlock<T>(map.item_shape());
  } else {
    side.rows.resize(rows * side.dim);
  }
  Workspace workspace;
  FeatureBlock<T> block;
  for (std::size_t first = 0; first < rows; first += kExplainedRows) {
    const std::size_t count = std::min(kExplainedRows, rows - first);
    map.map(slice(items, first, count), block, workspace);
    for (std::size_t i = 0; stays_sparse && i < count; ++i) {
      if (side.sparse.append(block.features, i) != Fault::kNone) {
        throw Error("sample to explain by: found a faulty pair, expected none");
      }
    }
    if (!stays_sparse) {
      locate(block.features, is_x, side, side.rows.data() + first * side.dim, workspace);
    }
  }
  return side;
}

// The coordinates of features, less those of the mean.
template <class T>
void Explainer<T>::locate(const Items<T>& features, bool is_x, const Side& side, T* coordinates,
                          Workspace& workspace) const {
  const Estimator<T>& estimator = *model_->estimator();
  const std::size_t rows = row_count(features);
  Workspace::Buffer<T> storage(workspace, rows * side.dim);
  const T* raw = is_exact() ? spread(features, storage.data())
                 : is_x     ? estimator.project_x(features, storage.data())
                            : estimator.project_y(features, storage.data());
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t k = 0; k < side.dim; ++k) {
      const std::size_t at = i * side.dim + k;
      coordinates[at] = static_cast<T>(static_cast<double>(raw[at]) - side.mean[k]);
    }
  }
}

// The part of the score that comes from x and y each for itself. Scales u and v, so that their
// products with the sample's coordinates make up the other part.
template <class T>
double Explainer<T>::set_apart(T* u, T* v) const {
  const std::vector<double>& q = model_->estimator()->q();
  double rest = model_->estimator()->c();
  for (std::size_t k = 0; k < q.size(); ++k) {
    const auto a = static_cast<double>(u[k]);
    const auto b = static_cast<double>(v[k]);
    rest -= 0.5 * q[k] * (a * a + b * b);
    // 1 / (1 - rho^2) = 1 + rho^2 / (1 - rho^2), half of it to each.
    const double scale = std::sqrt(1 + q[k]);
    u[k] = static_cast<T>(scale * a);
    v[k] = static_cast<T>(scale * b);
  }
  return rest;
}

// products[i] = u . u_i.
template <class T>
void Explainer<T>::multiply(const Side& side, const T* u, double* products,
                            Workspace& workspace) const {
  if (side.sparse.size() > 0) {
    const auto sparse = std::get<SparseRows<T>>(side.sparse.view());
    double with_mean = 0;
    for (std::size_t k = 0; k < side.dim; ++k) {
      with_mean += static_cast<double>(u[k]) * side.mean[k];
    }
    for (std::size_t i = 0; i < sparse.rows; ++i) {
      products[i] = -with_mean;
      for (std::size_t e = sparse.start[i]; e < sparse.start[i + 1]; ++e) {
        products[i] +=
            static_cast<double>(sparse.value[e]) * static_cast<double>(u[sparse.index[e]]);
      }
    }
    return;
  }
  std::fill_n(products, size(), 0.0);
  if (side.dim == 0 || size() == 0) return;
  Workspace::Buffer<T> row(workspace, size());
  blas::multiply_transposed(1, size(), side.dim, u, side.rows.data(), row.data());
  std::copy_n(row.data(), size(), products);
}

template <class T>
Explanation Explainer<T>::explain(const Items<T>& x, const Items<T>& y, double* contributions,
                                  ScoreScratch<T>& scratch) const {
  Explanation result;
  result.fault = Fault::kWrongShape;
  if (row_count(x) != 1 || row_count(y) != 1) return result;
  double score = 0;
  if (model_->score(x, y, &score, &result.fault, scratch) != 1) return result;
  const Estimator<T>* estimator = model_->estimator();
  if (estimator == nullptr) {
    std::fill_n(contributions, size(), 0.0);
    return {Fault::kNone, 0, 0};
  }
  model_->map_x()->map(x, scratch.x, scratch.workspace);
  model_->map_y()->map(y, scratch.y, scratch.workspace);
  Workspace::Buffer<T> u(scratch.workspace, x_.dim);
  Workspace::Buffer<T> v(scratch.workspace, y_.dim);
  locate(scratch.x.features, true, x_, u.data(), scratch.workspace);
  locate(scratch.y.features, false, y_, v.data(), scratch.workspace);
  const double rest = set_apart(u.data(), v.data());
  Workspace::Buffer<double> of_x(scratch.workspace, size());
  Workspace::Buffer<double> of_y(scratch.workspace, size());
  multiply(x_, u.data(), of_x.data(), scratch.workspace);
  multiply(y_, v.data(), of_y.data(), scratch.workspace);
  for (std::size_t i = 0; i < size(); ++i) {
    contributions[i] = shares_[i] * of_x[i] * of_y[i];
    if (!std::isfinite(contributions[i])) return {Fault::kTooLarge};
  }
  return {Fault::kNone, score, rest};
}

StrongestPairs strongest(std::span<const double> contributions, std::size_t top) {
  StrongestPairs pairs;
  for (std::size_t i = 0; i < contributions.size(); ++i) {
    if (contributions[i] > 0) pairs.raising.push_back(i);
    if (contributions[i] < 0) pairs.lowering.push_back(i);
  }
  for (auto* places : {&pairs.raising, &pairs.lowering}) {
    const std::size_t count = std::min(top, places->size());
    const auto stronger = [&](std::size_t a, std::size_t b) {
      const double left = std::abs(contributions[a]);
      const double right = std::abs(contributions[b]);
      return left != right ? left > right : a < b;
    };
    std::partial_sort(places->begin(), places->begin() + static_cast<std::ptrdiff_t>(count),
                      places->end(), stronger);
    places->resize(count);
  }
  return pairs;
}

template class Explainer<float>;
template class Explainer<double>;

}  // namespace phsic
