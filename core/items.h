// Items: what x and y are. Rows of dense numbers, rows of sparse numbers, or texts.
//
// The views (`DenseRows`, `SparseRows`, `TextRows`, together `Items`) own nothing; the caller keeps
// the memory alive during the call. `ItemBlock` owns a list of items of one shape. Feature vectors
// are items too: dense or sparse rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/archive.h"
#include "core/error.h"

namespace phsic {

enum class ItemKind : std::uint8_t { kDense, kSparse, kText };

// What all items of one side of a stream have in common. The dimension of texts is 0.
struct ItemShape {
  ItemKind kind = ItemKind::kDense;
  std::uint32_t dim = 0;

  bool operator==(const ItemShape&) const = default;
  [[nodiscard]] std::string to_string() const;
  void save(Writer& writer) const;
  [[nodiscard]] static ItemShape load(Reader& reader);
};

// Vectors longer than this are refused by configuration and by saved state: three moments of this
// size are 24 GiB.
inline constexpr std::uint32_t kMaxDimension = 1U << 15;

// `rows` x `dim` values, row-major, nothing between rows.
template <class T>
struct DenseRows {
  const T* data = nullptr;
  std::size_t rows = 0;
  std::size_t dim = 0;

  [[nodiscard]] const T* row(std::size_t i) const { return data + i * dim; }
};

// Row i has the entries start[i] up to start[i + 1] of `index` and `value`; `start` has rows + 1
// entries. Indices are strictly increasing within a row and below `dim`.
template <class T>
struct SparseRows {
  const std::size_t* start = nullptr;
  const std::uint32_t* index = nullptr;
  const T* value = nullptr;
  std::size_t rows = 0;
  std::size_t dim = 0;

  [[nodiscard]] std::size_t entries() const { return rows == 0 ? 0 : start[rows] - start[0]; }
};

// Text i has the bytes start[i] up to start[i + 1]; `start` has rows + 1 entries.
struct TextRows {
  const std::size_t* start = nullptr;
  const char* bytes = nullptr;
  std::size_t rows = 0;

  [[nodiscard]] std::string_view text(std::size_t i) const {
    return {bytes + start[i], start[i + 1] - start[i]};
  }
};

template <class T>
using Items = std::variant<DenseRows<T>, SparseRows<T>, TextRows>;

template <class T>
[[nodiscard]] std::size_t row_count(const Items<T>& items) {
  return std::visit([](const auto& rows) { return rows.rows; }, items);
}

template <class T>
[[nodiscard]] ItemShape shape_of(const Items<T>& items);

// Rows first .. first + count of `items`.
template <class T>
[[nodiscard]] Items<T> slice(const Items<T>& items, std::size_t first, std::size_t count);

// What is wrong with row i, if anything. REQUIRES: i < row_count(items).
template <class T>
[[nodiscard]] Fault inspect(const Items<T>& items, std::size_t i);

// A list of items of one shape: grows at the end, shrinks at the front.
template <class T>
class ItemBlock {
 public:
  explicit ItemBlock(ItemShape shape = {}) : shape_(shape) {}

  [[nodiscard]] const ItemShape& shape() const { return shape_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  // Valid until the next change of the block.
  [[nodiscard]] Items<T> view() const;
  // Memory that it has, used or not.
  [[nodiscard]] std::size_t byte_count() const {
    return sizeof(T) * values_.capacity() + sizeof(std::uint32_t) * index_.capacity() +
           bytes_.capacity() + sizeof(std::size_t) * start_.capacity();
  }

  // Appends row i if nothing is wrong with it. REQUIRES: i < row_count(items).
  [[nodiscard]] Fault append(const Items<T>& items, std::size_t i);
  // Appends a row of zeros, or an empty text.
  void append_nothing();
  // REQUIRES: items of the same shape.
  void append_all(const ItemBlock& items);
  // Multiplies item i by a factor. REQUIRES: vectors; i < size().
  void scale(std::size_t i, T factor);
  // REQUIRES: size() > 0.
  void drop_back();
  void drop_front(std::size_t count);
  void clear();

  // The items at `positions`, in that order. REQUIRES: each < size().
  [[nodiscard]] ItemBlock select(const std::vector<std::size_t>& positions) const;
  // The same items with values of another precision.
  template <class S>
  [[nodiscard]] ItemBlock<S> cast() const;

  void save(Writer& writer) const;
  [[nodiscard]] static ItemBlock load(Reader& reader);

 private:
  template <class>
  friend class ItemBlock;

  [[nodiscard]] Fault append_dense(const DenseRows<T>& rows, std::size_t i);
  void append_unchecked(const ItemBlock& from, std::size_t i);
  void compact();

  ItemShape shape_;
  std::size_t first_ = 0;  // items before this one have been dropped
  std::size_t size_ = 0;
  std::vector<T> values_;                 // dense and sparse
  std::vector<std::uint32_t> index_;      // sparse
  std::string bytes_;                     // texts
  std::vector<std::size_t> start_ = {0};  // sparse and texts
};

}  // namespace phsic
