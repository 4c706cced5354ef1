// The items of the newest pairs, in blocks as they will be learned: those at the front complete,
// the last one growing.
//
// Blocks are recycled: a steady stream moves nothing and allocates next to nothing. Not
// synchronised.
#pragma once

#include <cstddef>
#include <deque>
#include <vector>

#include "core/archive.h"
#include "core/items.h"

namespace phsic {

// Pairs are multiplied in blocks of this many: long enough to spread the cost of adding the product
// to the double sums, short enough that a float keeps the digits of a block.
inline constexpr std::size_t kBlockPairs = 256;

template <class T>
class RecentItems {
 public:
  explicit RecentItems(ItemShape shape = {}) : shape_(shape) {}

  [[nodiscard]] const ItemShape& shape() const { return shape_; }
  [[nodiscard]] std::size_t size() const;

  // Appends row i if nothing is wrong with it.
  [[nodiscard]] Fault append(const Items<T>& items, std::size_t i);
  // REQUIRES: the last append was accepted, and nothing was dropped since.
  void drop_back();
  // Multiplies item i by a factor. REQUIRES: vectors; i < size().
  void scale(std::size_t i, T factor) { blocks_[i / kBlockPairs].scale(i % kBlockPairs, factor); }
  // The block that item i is in, as its item i % kBlockPairs. REQUIRES: i < size().
  [[nodiscard]] const ItemBlock<T>& block_at(std::size_t i) const;
  // REQUIRES: size() > 0.
  void drop_front_block();

  // A copy of the items from `first` on.
  [[nodiscard]] ItemBlock<T> from(std::size_t first) const;

  void save(Writer& writer) const { from(0).save(writer); }
  [[nodiscard]] static RecentItems load(Reader& reader);

 private:
  ItemShape shape_;
  std::deque<ItemBlock<T>> blocks_;  // all but the last have kBlockPairs items
  std::vector<ItemBlock<T>> spare_;
};

}  // namespace phsic
