// A kernel with one side fixed: k(., b_1), ..., k(., b_m), ready to be evaluated on many items.
//
// Whatever depends on the fixed side alone (norms, n-gram profiles, transposes) is computed once.
// Linear, cosine, Gaussian and polynomial kernels on dense items cost one GEMM a block; sparse
// items cost their non-zeros times m. Immutable after construction and safe to share between
// threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/items.h"
#include "core/kernel.h"
#include "core/workspace.h"

namespace phsic {

template <class T>
class KernelColumns {
 public:
  // kBlocksAndRows allows evaluate_rows(). Most kernels on dense items then keep the fixed items
  // twice.
  enum class Use : std::uint8_t { kBlocks, kBlocksAndRows };

  // Throws unless the kernel is fitted and takes items of this shape.
  KernelColumns(const Kernel& kernel, const ItemBlock<T>& fixed, Use use = Use::kBlocks);

  [[nodiscard]] std::size_t size() const { return size_; }

  // out (rows x size(), row-major) = k(items[i], b_j).
  // REQUIRES: items of the fixed side's shape, each without fault (items.h).
  void evaluate(const Items<T>& items, T* out, Workspace& workspace) const {
    evaluate(items, Product::kOfBlock, out, workspace);
  }
  // The same, but the bits of a row of `out` depend on that item alone; those of evaluate() differ
  // with the block. REQUIRES: made for rows.
  void evaluate_rows(const Items<T>& items, T* out, Workspace& workspace) const {
    evaluate(items, Product::kOfRows, out, workspace);
  }

 private:
  // How dense items are multiplied with the fixed ones: as one block, or each row to bits of its
  // own.
  enum class Product : std::uint8_t { kOfBlock, kOfRows };

  void fix_dense(const DenseRows<T>& rows);
  void transpose_dense(std::size_t dim);
  void fix_sparse(const SparseRows<T>& rows);
  void fix_texts(const TextRows& rows);

  void evaluate(const Items<T>& items, Product product, T* out, Workspace& workspace) const;
  void multiply_dense(const DenseRows<T>& rows, Product product, T* out,
                      Workspace& workspace) const;
  void dots(const Items<T>& items, Product product, T* out, Workspace& workspace) const;
  void sparse_dots(const SparseRows<T>& sparse, T* out) const;
  void cosines(const Items<T>& items, Product product, T* out, Workspace& workspace) const;
  void gaussian(const DenseRows<T>& rows, Product product, T* out, Workspace& workspace) const;
  void gaussian(const SparseRows<T>& rows, T* out) const;
  void laplacian(const Items<T>& items, T* out) const;
  void polynomial(const Items<T>& items, Product product, T* out, Workspace& workspace) const;
  void spectrum(const TextRows& rows, T* out, Workspace& workspace) const;
  void combine(const Items<T>& items, Product product, T* out, Workspace& workspace) const;

  // Kept to 16 bytes, since there is one for each gram of each text when pivots are chosen.
  struct Posting {
    std::uint64_t code;
    std::uint32_t column;
    std::uint32_t count;
  };

  Kernel kernel_;
  std::size_t size_;
  std::vector<T> rows_;     // dense: the fixed items, m x dim, made unit or shifted as needed
  std::vector<T> columns_;  // sparse, or dense for rows: the fixed items transposed, dim x m
  std::vector<T> norms_;    // Gaussian: squared lengths; Laplacian: sums of magnitudes
  std::vector<T> origin_;   // Gaussian on dense items: what is subtracted before distances
  std::vector<T> scales_;   // Gaussian: one factor a dimension, or none
  std::vector<Posting> postings_;  // spectrum: ascending by gram
  std::vector<double> lengths_;    // spectrum: of each column, what its counts are divided by
  std::vector<KernelColumns> parts_;
};

// k(x, x) of row i.
template <class T>
[[nodiscard]] double self_kernel(const Kernel& kernel, const Items<T>& items, std::size_t i);
// k(x, x) of a vector of this squared length: it depends on nothing else. REQUIRES: a kernel on
// vectors.
[[nodiscard]] double self_kernel(const Kernel& kernel, double squared_length);

// |x|^2 of row i. REQUIRES: vectors.
template <class T>
[[nodiscard]] double squared_length(const Items<T>& items, std::size_t i);

}  // namespace phsic
