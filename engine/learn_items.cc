#include "engine/learn_items.h"

namespace phsic {
namespace {

// What a view cannot read is there, too, as nothing, so that all views have the same rows.
void append_or_nothing(const Items<float>& items, std::size_t row, ItemBlock<float>& to) {
  if (to.append(items, row) != Fault::kNone) to.append_nothing();
}

}  // namespace

void LearnItems::take_shapes(const Batch& batch) {
  const auto add = [&](const Batch& one) {
    views_.push_back(
        {ItemBlock<float>(shape_of(one.x.view())), ItemBlock<float>(shape_of(one.y.view()))});
  };
  if (batch.views.empty()) add(batch);
  for (const auto& view : batch.views) add(view);
}

bool LearnItems::add(const Batch& batch, std::size_t row) {
  if (views_.empty()) take_shapes(batch);
  if (batch.views.empty()) {
    auto& [x, y] = views_.front();
    if (x.append(batch.x.view(), row) != Fault::kNone) return false;
    if (y.append(batch.y.view(), row) == Fault::kNone) return true;
    x.drop_back();
    return false;
  }
  if (batch.readable[row] == 0) return false;
  for (std::size_t v = 0; v < views_.size(); ++v) {
    append_or_nothing(batch.views[v].x.view(), row, views_[v].x);
    append_or_nothing(batch.views[v].y.view(), row, views_[v].y);
  }
  readable_.push_back(batch.readable[row]);
  return true;
}

LearnBatch LearnItems::view(std::size_t first, std::size_t count) const {
  LearnBatch batch;
  if (views_.empty()) return batch;
  if (readable_.empty()) {
    batch.x = slice(views_.front().x.view(), first, count);
    batch.y = slice(views_.front().y.view(), first, count);
    return batch;
  }
  for (const auto& [x, y] : views_) {
    batch.views.push_back({slice(x.view(), first, count), slice(y.view(), first, count)});
  }
  batch.readable = readable_.data() + first;
  return batch;
}

void LearnItems::clear() {
  for (auto& [x, y] : views_) {
    x.clear();
    y.clear();
  }
  readable_.clear();
}

std::size_t LearnItems::byte_count() const {
  auto sum = readable_.capacity() + views_.capacity() * sizeof(Side);
  for (const auto& [x, y] : views_) sum += x.byte_count() + y.byte_count();
  return sum;
}

}  // namespace phsic
