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
  markers.clear();
  accepted = 0;
}

Intake::Intake(ItemShape x, ItemShape y) : x_(x), y_(y) {
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
                       const std::string_view* y) {
  auto& block = intake_.block_;
  if (block.x.append(batch.x.view(), i) != Fault::kNone) return;
  if (block.y.append(batch.y.view(), i) != Fault::kNone) {
    block.x.drop_back();
    return;
  }
  block.times.push_back(time);
  if (x != nullptr && y != nullptr) {
    // No more of a text than will be remembered.
    block.bytes.append(x->substr(0, SampledTexts::kLongest + 4));
    block.ends.push_back(block.bytes.size());
    block.bytes.append(y->substr(0, SampledTexts::kLongest + 4));
    block.ends.push_back(block.bytes.size());
  } else {
    block.ends.push_back(block.bytes.size());
    block.ends.push_back(block.bytes.size());
  }
}

void Intake::Turn::mark(std::shared_ptr<Job> job) {
  intake_.block_.markers.push_back({intake_.block_.size(), std::move(job)});
}

bool Intake::take(Block& block, std::chrono::steady_clock::time_point deadline) {
  block.clear();
  // Memory goes back and forth, so that a steady stream allocates nothing.
  if (block.x.shape() != x_) block.x = ItemBlock<float>(x_);
  if (block.y.shape() != y_) block.y = ItemBlock<float>(y_);
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
