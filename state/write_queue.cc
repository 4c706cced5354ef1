#include "state/write_queue.h"

#include <utility>

namespace phsic {
namespace {

constexpr std::size_t kFullQueue = 64U << 20U;  // bytes

}  // namespace

void WriteQueue::add(WriteItem item) {
  {
    std::unique_lock lock(mutex_);
    if (item.kind == WriteItem::Kind::kEntry) {
      emptied_.wait(lock, [&] { return bytes_ < kFullQueue; });
    }
    bytes_ += item.bytes.size() + sizeof(WriteItem);
    if (!oldest_) oldest_ = Clock::now();
    items_.push_back(std::move(item));
  }
  filled_.notify_one();
}

void WriteQueue::close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  filled_.notify_one();
}

bool WriteQueue::take(std::vector<WriteItem>& items, std::optional<Clock::time_point> until,
                      bool is_busy) {
  std::unique_lock lock(mutex_);
  const auto is_filled = [&] { return closed_ || !items_.empty() || is_busy; };
  if (until) {
    filled_.wait_until(lock, *until, is_filled);
  } else {
    filled_.wait(lock, is_filled);
  }
  if (delay_.count() > 0 && !items_.empty() && !is_busy) {
    filled_.wait_until(lock, *oldest_ + delay_, [&] { return closed_ || bytes_ >= kFullQueue; });
  }
  std::swap(items, items_);
  bytes_ = 0;
  oldest_.reset();
  emptied_.notify_all();
  return !closed_ || !items.empty() || is_busy;
}

}  // namespace phsic
