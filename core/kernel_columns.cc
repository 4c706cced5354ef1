#include "core/kernel_columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/blas.h"
#include "core/loops.h"
#include "core/row_product.h"
#include "core/spectrum.h"

namespace phsic {
namespace {

template <class S>
S power(S base, int exponent) {
  S result = 1;
  for (; exponent > 0; exponent /= 2) {
    if (exponent % 2 == 1) result *= base;
    base *= base;
  }
  return result;
}

}  // namespace

template <class T>
double squared_length(const Items<T>& items, std::size_t i) {
  if (const auto* dense = std::get_if<DenseRows<T>>(&items)) {
    return loops::squared_norm(dense->row(i), dense->dim);
  }
  const auto& sparse = std::get<SparseRows<T>>(items);
  return loops::squared_norm(sparse.value + sparse.start[i], sparse.start[i + 1] - sparse.start[i]);
}

template <class T>
KernelColumns<T>::KernelColumns(const Kernel& kernel, const ItemBlock<T>& fixed, Use use)
    : kernel_(kernel), size_(fixed.size()) {
  kernel.require_fits(fixed.shape());
  if (!kernel.is_fitted()) {
    throw Error(fmt::format("kernel {} is not fitted to data yet", kernel.to_string()));
  }
  if (!kernel.parts().empty()) {
    for (const Kernel& part : kernel.parts()) parts_.emplace_back(part, fixed, use);
    return;
  }
  scales_.assign(kernel.scales().begin(), kernel.scales().end());
  const Items<T> view = fixed.view();
  if (const auto* dense = std::get_if<DenseRows<T>>(&view)) {
    fix_dense(*dense);
    // The Laplacian goes row by row anyway, without products.
    if (use == Use::kBlocksAndRows && kernel.kind() != Kernel::Kind::kLaplacian) {
      transpose_dense(dense->dim);
    }
  } else if (const auto* sparse = std::get_if<SparseRows<T>>(&view)) {
    fix_sparse(*sparse);
  } else {
    fix_texts(std::get<TextRows>(view));
  }
}

template <class T>
void KernelColumns<T>::fix_dense(const DenseRows<T>& rows) {
  rows_.assign(rows.data, rows.data + rows.rows * rows.dim);
  if (kernel_.kind() == Kernel::Kind::kCosine) {
    for (std::size_t j = 0; j < size_; ++j) {
      T* row = rows_.data() + j * rows.dim;
      loops::scale(row, rows.dim, static_cast<T>(loops::inverse_length(squared_length<T>(rows, j))),
                   row);
    }
  }
  if (kernel_.kind() == Kernel::Kind::kGaussian) {
    // Distances do not change with the origin, but |x|^2 + |b|^2 - 2 x.b loses the digits that the
    // items have in common: take one of them as the origin.
    origin_.assign(rows.data, rows.data + (rows.rows > 0 ? rows.dim : 0));
    norms_.resize(size_);
    for (std::size_t j = 0; j < size_; ++j) {
      norms_[j] = static_cast<T>(loops::shift(rows.row(j), origin_.data(),
                                              scales_.empty() ? nullptr : scales_.data(), rows.dim,
                                              rows_.data() + j * rows.dim));
    }
  }
}

template <class T>
void KernelColumns<T>::transpose_dense(std::size_t dim) {
  columns_.resize(rows_.size());
  for (std::size_t j = 0; j < size_; ++j) {
    for (std::size_t e = 0; e < dim; ++e) columns_[e * size_ + j] = rows_[j * dim + e];
  }
}

template <class T>
void KernelColumns<T>::fix_sparse(const SparseRows<T>& rows) {
  columns_.assign(rows.dim * size_, 0);
  norms_.assign(size_, 0);
  for (std::size_t j = 0; j < size_; ++j) {
    const double unit = kernel_.kind() == Kernel::Kind::kCosine
                            ? loops::inverse_length(squared_length<T>(rows, j))
                            : 1;
    double norm = 0;
    for (std::size_t e = rows.start[j]; e < rows.start[j + 1]; ++e) {
      const std::size_t index = rows.index[e];
      const double scale = scales_.empty() ? unit : double(scales_[index]);
      const double value = scale * double(rows.value[e]);
      columns_[index * size_ + j] = static_cast<T>(value);
      norm += kernel_.kind() == Kernel::Kind::kLaplacian ? std::abs(value) : value * value;
    }
    norms_[j] = static_cast<T>(norm);
  }
}

template <class T>
void KernelColumns<T>::fix_texts(const TextRows& rows) {
  ProfileMaker profiles(kernel_.gram_length());
  // A text has no more grams than bytes and one: growing step by step would take thrice the memory.
  postings_.reserve((rows.rows > 0 ? rows.start[rows.rows] - rows.start[0] : 0) + rows.rows);
  lengths_.reserve(size_);
  for (std::size_t j = 0; j < size_; ++j) {
    const std::vector<Gram>& counts = profiles.count(rows.text(j));
    for (const Gram& gram : counts) {
      postings_.push_back(
          {gram.code, static_cast<std::uint32_t>(j), static_cast<std::uint32_t>(gram.weight)});
    }
    lengths_.push_back(length_of(counts));
  }
  std::sort(postings_.begin(), postings_.end(), [](const Posting& a, const Posting& b) {
    return a.code != b.code ? a.code < b.code : a.column < b.column;
  });
}

template <class T>
void KernelColumns<T>::evaluate(const Items<T>& items, Product product, T* out,
                                Workspace& workspace) const {
  using Kind = Kernel::Kind;
  if (size_ == 0) return;
  switch (kernel_.kind()) {
    case Kind::kLinear: return dots(items, product, out, workspace);
    case Kind::kCosine: return cosines(items, product, out, workspace);
    case Kind::kGaussian:
      if (const auto* dense = std::get_if<DenseRows<T>>(&items)) {
        return gaussian(*dense, product, out, workspace);
      }
      return gaussian(std::get<SparseRows<T>>(items), out);
    case Kind::kLaplacian: return laplacian(items, out);
    case Kind::kPolynomial: return polynomial(items, product, out, workspace);
    case Kind::kSpectrum: return spectrum(std::get<TextRows>(items), out, workspace);
    case Kind::kSum:
    case Kind::kProduct: return combine(items, product, out, workspace);
  }
}

template <class T>
void KernelColumns<T>::multiply_dense(const DenseRows<T>& rows, Product product, T* out,
                                      Workspace& workspace) const {
  if (product == Product::kOfRows) {
    multiply_rows(rows.rows, size_, rows.dim, rows.data, columns_.data(), out, workspace);
  } else {
    blas::multiply_transposed(rows.rows, size_, rows.dim, rows.data, rows_.data(), out);
  }
}

template <class T>
void KernelColumns<T>::dots(const Items<T>& items, Product product, T* out,
                            Workspace& workspace) const {
  if (const auto* dense = std::get_if<DenseRows<T>>(&items)) {
    multiply_dense(*dense, product, out, workspace);
  } else {
    sparse_dots(std::get<SparseRows<T>>(items), out);
  }
}

template <class T>
void KernelColumns<T>::sparse_dots(const SparseRows<T>& sparse, T* out) const {
  std::fill_n(out, sparse.rows * size_, T(0));
  for (std::size_t i = 0; i < sparse.rows; ++i) {
    for (std::size_t e = sparse.start[i]; e < sparse.start[i + 1]; ++e) {
      const std::size_t index = sparse.index[e];
      const T scale = scales_.empty() ? T(1) : scales_[index];
      loops::add_multiple(columns_.data() + index * size_, size_, scale * sparse.value[e],
                          out + i * size_);
    }
  }
}

template <class T>
void KernelColumns<T>::cosines(const Items<T>& items, Product product, T* out,
                               Workspace& workspace) const {
  dots(items, product, out, workspace);
  for (std::size_t i = 0; i < row_count(items); ++i) {
    T* row = out + i * size_;
    loops::scale(row, size_, static_cast<T>(loops::inverse_length(squared_length(items, i))), row);
  }
}

template <class T>
void KernelColumns<T>::gaussian(const DenseRows<T>& rows, Product product, T* out,
                                Workspace& workspace) const {
  Workspace::Buffer<T> shifted(workspace, rows.rows * rows.dim);
  Workspace::Buffer<T> norms(workspace, rows.rows);
  const T* scales = scales_.empty() ? nullptr : scales_.data();
  for (std::size_t i = 0; i < rows.rows; ++i) {
    norms[i] = static_cast<T>(
        loops::shift(rows.row(i), origin_.data(), scales, rows.dim, shifted.data() + i * rows.dim));
  }
  const double sigma = scales_.empty() ? kernel_.sigma() : 1;
  const auto factor = static_cast<T>(1 / (2 * sigma * sigma));
  if (rows.rows == 1 && product == Product::kOfBlock) {
    // One row gains nothing from BLAS, so take the distances themselves: all their digits are
    // right, which the choice of pivots relies on.
    for (std::size_t j = 0; j < size_; ++j) {
      out[j] = loops::squared_distance(shifted.data(), rows_.data() + j * rows.dim, rows.dim);
    }
    loops::exp_negative(out, size_, factor);
    return;
  }
  multiply_dense({shifted.data(), rows.rows, rows.dim}, product, out, workspace);
  const T longest = *std::max_element(norms_.begin(), norms_.end());
  for (std::size_t i = 0; i < rows.rows; ++i) {
    T* row = out + i * size_;
    loops::gaussian_from_dots(row, norms_.data(), size_, norms[i], factor);
    // Far from the origin the products have lost the digits of short distances: compute the
    // distances themselves.
    const T blur = 4 * std::numeric_limits<T>::epsilon() * (norms[i] + longest) * factor;
    if (!(blur > T(1e-3))) continue;
    for (std::size_t j = 0; j < size_; ++j) {
      row[j] = loops::squared_distance(shifted.data() + i * rows.dim, rows_.data() + j * rows.dim,
                                       rows.dim);
    }
    loops::exp_negative(row, size_, factor);
  }
}

template <class T>
void KernelColumns<T>::gaussian(const SparseRows<T>& rows, T* out) const {
  sparse_dots(rows, out);
  const double sigma = scales_.empty() ? kernel_.sigma() : 1;
  for (std::size_t i = 0; i < rows.rows; ++i) {
    double norm = 0;
    for (std::size_t e = rows.start[i]; e < rows.start[i + 1]; ++e) {
      const double scale = scales_.empty() ? 1 : double(scales_[rows.index[e]]);
      norm += scale * double(rows.value[e]) * scale * double(rows.value[e]);
    }
    loops::gaussian_from_dots(out + i * size_, norms_.data(), size_, static_cast<T>(norm),
                              static_cast<T>(1 / (2 * sigma * sigma)));
  }
}

template <class T>
void KernelColumns<T>::laplacian(const Items<T>& items, T* out) const {
  const std::size_t rows = row_count(items);
  if (const auto* dense = std::get_if<DenseRows<T>>(&items)) {
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t j = 0; j < size_; ++j) {
        out[i * size_ + j] =
            loops::manhattan(dense->row(i), rows_.data() + j * dense->dim, dense->dim);
      }
    }
  } else {
    // |x - b|_1 = |b|_1 + the sum over the non-zeros of x of |x_k - b_k| - |b_k|.
    const auto& sparse = std::get<SparseRows<T>>(items);
    for (std::size_t i = 0; i < rows; ++i) {
      T* row = out + i * size_;
      std::copy(norms_.begin(), norms_.end(), row);
      for (std::size_t e = sparse.start[i]; e < sparse.start[i + 1]; ++e) {
        loops::manhattan_column(columns_.data() + sparse.index[e] * size_, size_, sparse.value[e],
                                row);
      }
      for (std::size_t j = 0; j < size_; ++j) row[j] = std::max(row[j], T(0));
    }
  }
  // Row by row: what is left over at the end of a vectorised loop is computed by other
  // instructions.
  for (std::size_t i = 0; i < rows; ++i) {
    loops::exp_negative(out + i * size_, size_, static_cast<T>(kernel_.gamma()));
  }
}

template <class T>
void KernelColumns<T>::polynomial(const Items<T>& items, Product product, T* out,
                                  Workspace& workspace) const {
  dots(items, product, out, workspace);
  const std::size_t count = row_count(items) * size_;
  const auto gamma = static_cast<T>(kernel_.gamma());
  const auto offset = static_cast<T>(kernel_.offset());
  for (std::size_t i = 0; i < count; ++i) out[i] = power(gamma * out[i] + offset, kernel_.degree());
}

template <class T>
void KernelColumns<T>::spectrum(const TextRows& rows, T* out, Workspace& workspace) const {
  ProfileMaker profiles(kernel_.gram_length());
  Workspace::Buffer<double> sums(workspace, size_);
  for (std::size_t i = 0; i < rows.rows; ++i) {
    std::fill_n(sums.data(), size_, 0.0);
    for (const Gram& gram : profiles.make(rows.text(i))) {
      auto posting =
          std::lower_bound(postings_.begin(), postings_.end(), gram.code,
                           [](const Posting& p, std::uint64_t code) { return p.code < code; });
      for (; posting != postings_.end() && posting->code == gram.code; ++posting) {
        sums[posting->column] += gram.weight * (posting->count / lengths_[posting->column]);
      }
    }
    for (std::size_t j = 0; j < size_; ++j) out[i * size_ + j] = static_cast<T>(sums[j]);
  }
}

template <class T>
void KernelColumns<T>::combine(const Items<T>& items, Product product, T* out,
                               Workspace& workspace) const {
  const std::size_t count = row_count(items) * size_;
  parts_.front().evaluate(items, product, out, workspace);
  Workspace::Buffer<T> values(workspace, count);
  for (std::size_t part = 1; part < parts_.size(); ++part) {
    parts_[part].evaluate(items, product, values.data(), workspace);
    if (kernel_.kind() == Kernel::Kind::kSum) {
      for (std::size_t i = 0; i < count; ++i) out[i] += values[i];
    } else {
      for (std::size_t i = 0; i < count; ++i) out[i] *= values[i];
    }
  }
}

double self_kernel(const Kernel& kernel, double squared_length) {
  using Kind = Kernel::Kind;
  switch (kernel.kind()) {
    case Kind::kLinear: return squared_length;
    case Kind::kCosine: return loops::inverse_length(squared_length) > 0 ? 1 : 0;
    case Kind::kGaussian:
    case Kind::kLaplacian: return 1;
    case Kind::kPolynomial:
      return power(kernel.gamma() * squared_length + kernel.offset(), kernel.degree());
    case Kind::kSpectrum: return 1;
    case Kind::kSum: {
      double sum = 0;
      for (const Kernel& part : kernel.parts()) sum += self_kernel(part, squared_length);
      return sum;
    }
    case Kind::kProduct: break;
  }
  double product = 1;
  for (const Kernel& part : kernel.parts()) product *= self_kernel(part, squared_length);
  return product;
}

template <class T>
double self_kernel(const Kernel& kernel, const Items<T>& items, std::size_t i) {
  const auto* texts = std::get_if<TextRows>(&items);
  if (texts == nullptr) return self_kernel(kernel, squared_length(items, i));
  if (kernel.kind() == Kernel::Kind::kSpectrum) {
    return has_grams(texts->text(i), kernel.gram_length()) ? 1 : 0;
  }
  double sum = 0;
  double product = 1;
  for (const Kernel& part : kernel.parts()) {
    const double value = self_kernel(part, items, i);
    sum += value;
    product *= value;
  }
  return kernel.kind() == Kernel::Kind::kSum ? sum : product;
}

template double squared_length(const Items<float>&, std::size_t);
template double squared_length(const Items<double>&, std::size_t);
template class KernelColumns<float>;
template class KernelColumns<double>;
template double self_kernel(const Kernel&, const Items<float>&, std::size_t);
template double self_kernel(const Kernel&, const Items<double>&, std::size_t);

}  // namespace phsic
