// From items to feature vectors: phi(x).
//
// Explicit kernels give the item itself (linear) or the item made unit length (cosine); all others
// give a(x) = L^-1 k_P(x), the incomplete Cholesky decomposition "performed from halfway" for a new
// x. A FeatureMap is immutable and safe to share between threads.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "core/feature_block.h"
#include "core/items.h"
#include "core/kernel.h"
#include "core/kernel_columns.h"
#include "core/pivots.h"

namespace phsic {

template <class T>
class FeatureMap {
 public:
  // Explicit features. Throws unless the kernel has them for items of this shape.
  FeatureMap(const Kernel& kernel, ItemShape items);
  // By pivots.
  explicit FeatureMap(PivotSet<T> pivots);

  [[nodiscard]] const ItemShape& item_shape() const { return items_; }
  [[nodiscard]] const Kernel& kernel() const { return kernel_; }
  [[nodiscard]] std::size_t dim() const { return dim_; }
  [[nodiscard]] bool is_sparse() const { return !pivots_ && items_.kind == ItemKind::kSparse; }
  // Null without pivots.
  [[nodiscard]] const PivotSet<T>* pivots() const { return pivots_ ? &*pivots_ : nullptr; }

  // Fills `block` with the features of all items. `items` must outlive the use of `block`.
  // REQUIRES: items of item_shape(), each without fault.
  void map(const Items<T>& items, FeatureBlock<T>& block, Workspace& workspace) const;
  // The same, but the bits of a row's features depend on that row alone; those of map() differ with
  // the block. For scoring.
  void map_rows(const Items<T>& items, FeatureBlock<T>& block, Workspace& workspace) const;

  // Whether both give the same features.
  bool operator==(const FeatureMap& other) const;

  void save(Writer& writer) const;
  [[nodiscard]] static std::shared_ptr<const FeatureMap> load(Reader& reader);

 private:
  void map_explicitly(const Items<T>& items, FeatureBlock<T>& block) const;
  void prepare(std::size_t rows, FeatureBlock<T>& block) const;
  void finish(const Items<T>& items, FeatureBlock<T>& block) const;
  void map_to_unit(const Items<T>& items, FeatureBlock<T>& block) const;

  Kernel kernel_;
  ItemShape items_;
  std::size_t dim_;
  std::optional<PivotSet<T>> pivots_;
  std::optional<KernelColumns<T>> columns_;
  std::vector<T> to_features_;  // L^-T, d x d row-major: features = kernel values * L^-T
};

}  // namespace phsic
