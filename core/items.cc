#include "core/items.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/loops.h"
#include "core/spectrum.h"

namespace phsic {
namespace {

template <class T>
Fault fault_of_values(const T* values, std::size_t n) {
  if (loops::all_within(values, n, static_cast<T>(kMaxMagnitude))) return Fault::kNone;
  const bool finite = std::all_of(values, values + n, [](T v) { return std::isfinite(v); });
  return finite ? Fault::kTooLarge : Fault::kNotFinite;
}

template <class T>
Fault inspect_row(const DenseRows<T>& rows, std::size_t i) {
  return fault_of_values(rows.row(i), rows.dim);
}

template <class T>
Fault inspect_row(const SparseRows<T>& rows, std::size_t i) {
  for (std::size_t e = rows.start[i]; e < rows.start[i + 1]; ++e) {
    const bool ordered = e == rows.start[i] || rows.index[e - 1] < rows.index[e];
    if (!ordered || rows.index[e] >= rows.dim) return Fault::kBadIndex;
  }
  return fault_of_values(rows.value + rows.start[i], rows.start[i + 1] - rows.start[i]);
}

Fault inspect_row(const TextRows& rows, std::size_t i) {
  return is_utf8(rows.text(i)) ? Fault::kNone : Fault::kBadText;
}

}  // namespace

std::string ItemShape::to_string() const {
  switch (kind) {
    case ItemKind::kDense: return fmt::format("dense vectors of dimension {}", dim);
    case ItemKind::kSparse: return fmt::format("sparse vectors of dimension {}", dim);
    case ItemKind::kText: return "texts";
  }
  return "unknown items";
}

void ItemShape::save(Writer& writer) const {
  writer.number(kind);
  writer.number(dim);
}

ItemShape ItemShape::load(Reader& reader) {
  ItemShape shape;
  shape.kind = reader.enumerator("item kind", ItemKind::kText);
  const bool text = shape.kind == ItemKind::kText;
  shape.dim =
      reader.number_in<std::uint32_t>("item dimension", text ? 0 : 1, text ? 0 : kMaxDimension);
  return shape;
}

template <class T>
ItemShape shape_of(const Items<T>& items) {
  if (const auto* dense = std::get_if<DenseRows<T>>(&items)) {
    return {ItemKind::kDense, static_cast<std::uint32_t>(dense->dim)};
  }
  if (const auto* sparse = std::get_if<SparseRows<T>>(&items)) {
    return {ItemKind::kSparse, static_cast<std::uint32_t>(sparse->dim)};
  }
  return {ItemKind::kText, 0};
}

template <class T>
Items<T> slice(const Items<T>& items, std::size_t first, std::size_t count) {
  if (const auto* dense = std::get_if<DenseRows<T>>(&items)) {
    return DenseRows<T>{dense->data + first * dense->dim, count, dense->dim};
  }
  if (const auto* sparse = std::get_if<SparseRows<T>>(&items)) {
    return SparseRows<T>{sparse->start + first, sparse->index, sparse->value, count, sparse->dim};
  }
  const auto& texts = std::get<TextRows>(items);
  return TextRows{texts.start + first, texts.bytes, count};
}

template <class T>
Fault inspect(const Items<T>& items, std::size_t i) {
  return std::visit([i](const auto& rows) { return inspect_row(rows, i); }, items);
}

template <class T>
Items<T> ItemBlock<T>::view() const {
  switch (shape_.kind) {
    case ItemKind::kDense:
      return DenseRows<T>{values_.data() + first_ * shape_.dim, size_, shape_.dim};
    case ItemKind::kSparse:
      return SparseRows<T>{start_.data() + first_, index_.data(), values_.data(), size_,
                           shape_.dim};
    case ItemKind::kText: break;
  }
  return TextRows{start_.data() + first_, bytes_.data(), size_};
}

template <class T>
Fault ItemBlock<T>::append_dense(const DenseRows<T>& rows, std::size_t i) {
  const std::size_t end = (first_ + size_) * shape_.dim;
  if (values_.size() < end + shape_.dim) values_.resize(std::max(2 * end, end + shape_.dim));
  if (!loops::copy_within(rows.row(i), rows.dim, static_cast<T>(kMaxMagnitude),
                          values_.data() + end)) {
    return inspect_row(rows, i);
  }
  ++size_;
  return Fault::kNone;
}

template <class T>
Fault ItemBlock<T>::append(const Items<T>& items, std::size_t i) {
  if (shape_of(items) != shape_) return Fault::kWrongShape;
  if (const auto* dense = std::get_if<DenseRows<T>>(&items)) return append_dense(*dense, i);
  if (const Fault fault = inspect(items, i); fault != Fault::kNone) return fault;
  if (const auto* sparse = std::get_if<SparseRows<T>>(&items)) {
    index_.insert(index_.end(), sparse->index + sparse->start[i],
                  sparse->index + sparse->start[i + 1]);
    values_.insert(values_.end(), sparse->value + sparse->start[i],
                   sparse->value + sparse->start[i + 1]);
    start_.push_back(index_.size());
  } else {
    bytes_.append(std::get<TextRows>(items).text(i));
    start_.push_back(bytes_.size());
  }
  ++size_;
  return Fault::kNone;
}

template <class T>
void ItemBlock<T>::scale(std::size_t i, T factor) {
  const std::size_t place = first_ + i;
  const bool is_dense = shape_.kind == ItemKind::kDense;
  const std::size_t first = is_dense ? place * shape_.dim : start_[place];
  const std::size_t last = is_dense ? first + shape_.dim : start_[place + 1];
  loops::scale(values_.data() + first, last - first, factor, values_.data() + first);
}

template <class T>
void ItemBlock<T>::drop_back() {
  --size_;
  if (shape_.kind == ItemKind::kDense) return;
  start_.pop_back();
  if (shape_.kind == ItemKind::kSparse) {
    index_.resize(start_.back());
    values_.resize(start_.back());
  } else {
    bytes_.resize(start_.back());
  }
}

template <class T>
void ItemBlock<T>::drop_front(std::size_t count) {
  first_ += count;
  size_ -= count;
  // Moving what is left costs no more than having appended what was dropped.
  if (first_ >= size_) compact();
}

template <class T>
void ItemBlock<T>::compact() {
  if (first_ == 0) return;
  if (shape_.kind == ItemKind::kDense) {
    std::copy_n(values_.data() + first_ * shape_.dim, size_ * shape_.dim, values_.data());
    first_ = 0;
    return;
  }
  const std::size_t dropped = start_[first_];
  start_.erase(start_.begin(), start_.begin() + static_cast<std::ptrdiff_t>(first_));
  for (std::size_t& start : start_) start -= dropped;
  first_ = 0;
  const auto count = static_cast<std::ptrdiff_t>(dropped);
  if (shape_.kind == ItemKind::kSparse) {
    index_.erase(index_.begin(), index_.begin() + count);
    values_.erase(values_.begin(), values_.begin() + count);
  } else {
    bytes_.erase(0, dropped);
  }
}

template <class T>
void ItemBlock<T>::clear() {
  // What a few long texts have taken is given back when they are gone.
  constexpr std::size_t kLittle = 1U << 16U;
  const bool is_roomy = bytes_.capacity() > kLittle && bytes_.size() < bytes_.capacity() / 4;
  drop_front(size_);
  if (is_roomy) bytes_.shrink_to_fit();
}

template <class T>
void ItemBlock<T>::append_unchecked(const ItemBlock& from, std::size_t i) {
  const std::size_t at = from.first_ + i;
  if (shape_.kind == ItemKind::kDense) {
    const auto begin = from.values_.begin() + static_cast<std::ptrdiff_t>(at * shape_.dim);
    values_.insert(values_.end(), begin, begin + shape_.dim);
  } else {
    const auto begin = static_cast<std::ptrdiff_t>(from.start_[at]);
    const auto end = static_cast<std::ptrdiff_t>(from.start_[at + 1]);
    if (shape_.kind == ItemKind::kSparse) {
      index_.insert(index_.end(), from.index_.begin() + begin, from.index_.begin() + end);
      values_.insert(values_.end(), from.values_.begin() + begin, from.values_.begin() + end);
    } else {
      bytes_.append(from.bytes_.begin() + begin, from.bytes_.begin() + end);
    }
    start_.push_back(start_.back() + static_cast<std::size_t>(end - begin));
  }
  ++size_;
}

template <class T>
void ItemBlock<T>::append_nothing() {
  if (shape_.kind == ItemKind::kDense) {
    const std::size_t end = (first_ + size_) * shape_.dim;
    values_.resize(std::max(values_.size(), end + shape_.dim));
    std::fill_n(values_.begin() + static_cast<std::ptrdiff_t>(end), shape_.dim, T(0));
  } else {
    start_.push_back(start_.back());
  }
  ++size_;
}

template <class T>
void ItemBlock<T>::append_all(const ItemBlock& items) {
  if (shape_.kind == ItemKind::kDense) values_.resize((first_ + size_) * shape_.dim);
  for (std::size_t i = 0; i < items.size(); ++i) append_unchecked(items, i);
}

template <class T>
ItemBlock<T> ItemBlock<T>::select(const std::vector<std::size_t>& positions) const {
  ItemBlock chosen(shape_);
  for (const std::size_t i : positions) chosen.append_unchecked(*this, i);
  return chosen;
}

template <class T>
template <class S>
ItemBlock<S> ItemBlock<T>::cast() const {
  ItemBlock<S> other(shape_);
  other.first_ = first_;
  other.size_ = size_;
  other.values_.assign(values_.begin(), values_.end());
  other.index_ = index_;
  other.bytes_ = bytes_;
  other.start_ = start_;
  return other;
}

template <class T>
void ItemBlock<T>::save(Writer& writer) const {
  ItemBlock packed = *this;
  packed.compact();
  shape_.save(writer);
  writer.number<std::uint64_t>(size_);
  if (shape_.kind == ItemKind::kDense) packed.values_.resize(size_ * shape_.dim);
  writer.array(packed.values_);
  writer.array(packed.index_);
  writer.text(packed.bytes_);
  writer.array(std::vector<std::uint64_t>(packed.start_.begin(), packed.start_.end()));
}

template <class T>
ItemBlock<T> ItemBlock<T>::load(Reader& reader) {
  ItemBlock block(ItemShape::load(reader));
  block.size_ = reader.number<std::uint64_t>("items");
  block.values_ = reader.array<T>("item values");
  block.index_ = reader.array<std::uint32_t>("item indices");
  block.bytes_ = reader.text("item texts", SIZE_MAX);
  const auto starts = reader.array<std::uint64_t>("item starts");
  block.start_.assign(starts.begin(), starts.end());

  const bool dense = block.shape_.kind == ItemKind::kDense;
  const bool sparse = block.shape_.kind == ItemKind::kSparse;
  const bool text = block.shape_.kind == ItemKind::kText;
  const std::size_t entries = text ? block.bytes_.size() : block.index_.size();
  // The count is compared by division: a product could wrap around.
  const bool sizes_fit = dense ? block.values_.size() % block.shape_.dim == 0 &&
                                     block.values_.size() / block.shape_.dim == block.size_
                               : !block.start_.empty() && block.start_.size() - 1 == block.size_;
  const bool starts_fit = !block.start_.empty() && block.start_.front() == 0 &&
                          std::is_sorted(block.start_.begin(), block.start_.end()) &&
                          block.start_.back() == (dense ? 0 : entries) &&
                          (!dense || block.start_.size() == 1);
  const bool arrays_fit = (sparse ? block.values_.size() == entries : block.index_.empty()) &&
                          (!text || block.values_.empty()) && (text || block.bytes_.empty());
  if (!sizes_fit || !starts_fit || !arrays_fit) {
    reader.refuse("items",
                  fmt::format("found {} values, {} indices, {} bytes, {} starts, expected "
                              "those of {} {}",
                              block.values_.size(), block.index_.size(), block.bytes_.size(),
                              block.start_.size(), block.size_, block.shape_.to_string()));
  }
  const Items<T> view = block.view();
  for (std::size_t i = 0; i < block.size_; ++i) {
    if (const Fault fault = inspect(view, i); fault != Fault::kNone) {
      reader.refuse("items", fmt::format("item {}: {}", i, describe(fault)));
    }
  }
  return block;
}

#define PHSIC_INSTANTIATE(T)                                          \
  template ItemShape shape_of(const Items<T>&);                       \
  template Items<T> slice(const Items<T>&, std::size_t, std::size_t); \
  template Fault inspect(const Items<T>&, std::size_t);               \
  template class ItemBlock<T>;
PHSIC_INSTANTIATE(float)
PHSIC_INSTANTIATE(double)
#undef PHSIC_INSTANTIATE
template ItemBlock<float> ItemBlock<float>::cast() const;
template ItemBlock<double> ItemBlock<float>::cast() const;
template ItemBlock<double> ItemBlock<double>::cast() const;
template ItemBlock<float> ItemBlock<double>::cast() const;

}  // namespace phsic
