#include "daemon/intake.h"

#include <utility>

#include "engine/sampled_texts.h"

namespace phsic {

void Intake::Block::clear() {
  x.clear();
  y.clear();
  times.clear();
  bytes.clear();
  ends.clear();
  are_vectors.clear();
  ids.clear();
  markers.clear();
  accepted = 0;
}

std::pair<std::string_view, std::string_view> Intake::Block::texts(std::size_t i) const {
  const std::string_view all = bytes;
  const auto start = i == 0 ? 0 : ends[2 * i - 1];
  return {all.substr(start, ends[2 * i] - start),
          all.substr(ends[2 * i], ends[2 * i + 1] - ends[2 * i])};
}

Intake::Intake(ItemShape x, ItemShape y, bool whole_texts, SeenIds seen)
    : x_(x),
      y_(y),
      longest_(whole_texts ? SIZE_MAX : SampledTexts::kLongest + 4),
      seen_(std::move(seen)) {
  block_.x = ItemBlock<float>(x);
  block_.y = ItemBlock<float>(y);
}

Intake::Turn::Turn(Intake& intake, std::uint64_t ticket) : intake_(intake), lock_(intake.mutex_) {
  intake_.turn_.wait(lock_, [&] { return intake_.next_ticket_ == ticket; });
}

Intake::Turn::~Turn() {
  ++intake_.next_ticket_;
  lock_.unlock();
  intake_.turn_.notify_all();
  intake_.filled_.notify_one();
}

void Intake::Turn::add(const Batch& batch, std::size_t i, double time, const std::string_view* x,
                       const std::string_view* y, const IdHash& id) {
  auto& block = intake_.block_;
  if (block.x.append(batch.x.view(), i) != Fault::kNone) return;
  if (block.y.append(batch.y.view(), i) != Fault::kNone) {
    block.x.drop_back();
    return;
  }
  block.times.push_back(time);
  block.ids.push_back(id);
  block.are_vectors.push_back(x == nullptr || y == nullptr);
  for (const auto* text : {x, y}) {
    // No more of a text than is wanted.
    if (!block.are_vectors.back()) block.bytes.append(text->substr(0, intake_.longest_));
    block.ends.push_back(block.bytes.size());
  }
}

bool Intake::is_first(const IdHash& id) {
  const std::lock_guard lock(mutex_);
  return note_id(id);
}

void Intake::Turn::mark(std::shared_ptr<Job> job) {
  intake_.block_.markers.push_back({intake_.block_.size(), std::move(job)});
}

// Memory goes back and forth, so that a steady stream allocates nothing.
void Intake::make_ready(Block& block) const {
  block.clear();
  if (block.x.shape() != x_) block.x = ItemBlock<float>(x_);
  if (block.y.shape() != y_) block.y = ItemBlock<float>(y_);
}

void Intake::take_now(Block& block) {
  make_ready(block);
  const std::lock_guard lock(mutex_);
  std::swap(block, block_);
}

bool Intake::take(Block& block, std::chrono::steady_clock::time_point deadline) {
  make_ready(block);
  std::unique_lock lock(mutex_);
  const auto is_ready = [&] {
    return closed_ || woken_ || block_.accepted > 0 || !block_.markers.empty();
  };
  filled_.wait_until(lock, deadline, is_ready);
  woken_ = false;
  std::swap(block, block_);
  return !closed_ || block.accepted > 0 || !block.markers.empty();
}

void Intake::wake() {
  {
    const std::lock_guard lock(mutex_);
    woken_ = true;
  }
  filled_.notify_one();
}

void Intake::close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  filled_.notify_one();
}

}  // namespace phsic
