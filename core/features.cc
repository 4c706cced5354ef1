#include "core/features.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/blas.h"
#include "core/loops.h"
#include "core/row_product.h"

namespace phsic {

template <class T>
FeatureMap<T>::FeatureMap(const Kernel& kernel, ItemShape items)
    : kernel_(kernel), items_(items), dim_(items.dim) {
  kernel.require_fits(items);
  if (!kernel.is_explicit()) {
    throw Error(
        fmt::format("kernel {} has no explicit features, it needs pivots", kernel.to_string()));
  }
}

template <class T>
FeatureMap<T>::FeatureMap(PivotSet<T> pivots)
    : kernel_(pivots.kernel),
      items_(pivots.items.shape()),
      dim_(pivots.items.size()),
      pivots_(std::move(pivots)) {
  columns_.emplace(kernel_, pivots_->items, KernelColumns<T>::Use::kBlocksAndRows);
  const auto d = static_cast<Eigen::Index>(dim_);
  Eigen::MatrixXd inverse = Eigen::MatrixXd::Identity(d, d);
  blas::solve_lower(pivots_->factor, inverse);
  // Column-major L^-1 read row by row is L^-T.
  to_features_.assign(inverse.data(), inverse.data() + inverse.size());
  if (!loops::all_within(to_features_.data(), to_features_.size(), std::numeric_limits<T>::max())) {
    throw Error("pivots: found a factor whose inverse overflows, expected a well-conditioned one");
  }
}

template <class T>
void FeatureMap<T>::map(const Items<T>& items, FeatureBlock<T>& block, Workspace& workspace) const {
  if (!pivots_) return map_explicitly(items, block);
  const std::size_t n = row_count(items);
  prepare(n, block);
  columns_->evaluate(items, block.kernel_values.data(), workspace);
  if (dim_ > 0) {
    blas::multiply(n, dim_, dim_, block.kernel_values.data(), to_features_.data(),
                   block.storage.data());
  }
  finish(items, block);
}

template <class T>
void FeatureMap<T>::map_rows(const Items<T>& items, FeatureBlock<T>& block,
                             Workspace& workspace) const {
  if (!pivots_) return map_explicitly(items, block);
  const std::size_t n = row_count(items);
  prepare(n, block);
  columns_->evaluate_rows(items, block.kernel_values.data(), workspace);
  multiply_rows(n, dim_, dim_, block.kernel_values.data(), to_features_.data(),
                block.storage.data(), workspace);
  finish(items, block);
}

// Serves map() and map_rows(): the bits of a row depend on that row alone.
template <class T>
void FeatureMap<T>::map_explicitly(const Items<T>& items, FeatureBlock<T>& block) const {
  block.self.clear();
  block.residual.clear();
  if (kernel_.kind() == Kernel::Kind::kCosine) return map_to_unit(items, block);
  block.features = items;
}

template <class T>
void FeatureMap<T>::map_to_unit(const Items<T>& items, FeatureBlock<T>& block) const {
  const auto unit = [](const T* values, std::size_t n, T* out) {
    const double squared = loops::squared_norm(values, n);
    loops::scale(values, n, static_cast<T>(loops::inverse_length(squared)), out);
  };
  if (const auto* dense = std::get_if<DenseRows<T>>(&items)) {
    block.storage.resize(std::max(block.storage.size(), dense->rows * dense->dim));
    for (std::size_t i = 0; i < dense->rows; ++i) {
      unit(dense->row(i), dense->dim, block.storage.data() + i * dense->dim);
    }
    block.features = DenseRows<T>{block.storage.data(), dense->rows, dense->dim};
    return;
  }
  // Sparse features keep the items' indices. Their values are addressed through the same starts, so
  // the storage is offset by the first of them.
  const auto& sparse = std::get<SparseRows<T>>(items);
  const std::size_t end = sparse.rows > 0 ? sparse.start[sparse.rows] : 0;
  block.storage.resize(std::max(block.storage.size(), end));
  for (std::size_t i = 0; i < sparse.rows; ++i) {
    const std::size_t start = sparse.start[i];
    unit(sparse.value + start, sparse.start[i + 1] - start, block.storage.data() + start);
  }
  block.features =
      SparseRows<T>{sparse.start, sparse.index, block.storage.data(), sparse.rows, sparse.dim};
}

template <class T>
void FeatureMap<T>::prepare(std::size_t rows, FeatureBlock<T>& block) const {
  block.kernel_values.resize(std::max(block.kernel_values.size(), rows * dim_));
  block.storage.resize(std::max(block.storage.size(), rows * dim_));
}

template <class T>
void FeatureMap<T>::finish(const Items<T>& items, FeatureBlock<T>& block) const {
  const std::size_t n = row_count(items);
  block.self.resize(n);
  block.residual.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    block.self[i] = self_kernel(kernel_, items, i);
    const double explained = loops::squared_norm(block.storage.data() + i * dim_, dim_);
    block.residual[i] = std::max(block.self[i] - explained, 0.0);
  }
  block.features = DenseRows<T>{block.storage.data(), n, dim_};
}

template <class T>
bool FeatureMap<T>::operator==(const FeatureMap& other) const {
  if (this == &other) return true;
  Writer ours;
  Writer theirs;
  save(ours);
  other.save(theirs);
  return ours.bytes() == theirs.bytes();
}

template <class T>
void FeatureMap<T>::save(Writer& writer) const {
  writer.number<std::uint8_t>(pivots_.has_value());
  if (pivots_) {
    pivots_->save(writer);
  } else {
    kernel_.save(writer);
    items_.save(writer);
  }
}

template <class T>
std::shared_ptr<const FeatureMap<T>> FeatureMap<T>::load(Reader& reader) {
  if (reader.flag("features by pivots")) {
    return std::make_shared<const FeatureMap>(PivotSet<T>::load(reader));
  }
  const Kernel kernel = Kernel::load(reader);
  return std::make_shared<const FeatureMap>(kernel, ItemShape::load(reader));
}

template class FeatureMap<float>;
template class FeatureMap<double>;

}  // namespace phsic
