#include "core/recent.h"

#include <utility>

namespace phsic {

template <class T>
std::size_t RecentItems<T>::size() const {
  return blocks_.empty() ? 0 : (blocks_.size() - 1) * kBlockPairs + blocks_.back().size();
}

template <class T>
Fault RecentItems<T>::append(const Items<T>& items, std::size_t i) {
  if (blocks_.empty() || blocks_.back().size() == kBlockPairs) {
    if (spare_.empty()) spare_.emplace_back(shape_);
    blocks_.push_back(std::move(spare_.back()));
    spare_.pop_back();
  }
  const Fault fault = blocks_.back().append(items, i);
  if (blocks_.back().size() == 0) {
    spare_.push_back(std::move(blocks_.back()));
    blocks_.pop_back();
  }
  return fault;
}

template <class T>
void RecentItems<T>::drop_back() {
  blocks_.back().drop_back();
  if (blocks_.back().size() == 0) {
    spare_.push_back(std::move(blocks_.back()));
    blocks_.pop_back();
  }
}

template <class T>
const ItemBlock<T>& RecentItems<T>::block_at(std::size_t i) const {
  return blocks_[i / kBlockPairs];
}

template <class T>
void RecentItems<T>::drop_front_block() {
  ItemBlock<T> block = std::move(blocks_.front());
  blocks_.pop_front();
  block.clear();
  spare_.push_back(std::move(block));
}

template <class T>
ItemBlock<T> RecentItems<T>::from(std::size_t first) const {
  ItemBlock<T> copy(shape_);
  for (const ItemBlock<T>& block : blocks_) copy.append_all(block);
  copy.drop_front(first);
  return copy;
}

template <class T>
RecentItems<T> RecentItems<T>::load(Reader& reader) {
  const ItemBlock<T> items = ItemBlock<T>::load(reader);
  RecentItems recent(items.shape());
  for (std::size_t i = 0; i < items.size(); ++i) {
    // Cannot fail: the block has just been checked item by item.
    if (recent.append(items.view(), i) != Fault::kNone)
      reader.refuse("recent items", "found a bad one");
  }
  return recent;
}

template class RecentItems<float>;
template class RecentItems<double>;

}  // namespace phsic
