// What other threads bring to the loop's thread, in order. The loop is called once for all that
// waits.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

namespace phsic {

template <class Item>
class Mailbox {
 public:
  // `take` is called in the loop's thread, for one after the other.
  Mailbox(boost::asio::io_context& loop, std::function<void(Item&)> take)
      : loop_(loop), take_(std::move(take)) {}

  // Any thread. Without memory for the item it throws a std::bad_alloc; later ones are delivered.
  void put(Item item) {
    const std::lock_guard lock(mutex_);
    if (!is_called_) boost::asio::post(loop_, [this] { deliver(); });
    is_called_ = true;
    items_.push_back(std::move(item));
  }

 private:
  void deliver() {
    {
      const std::lock_guard lock(mutex_);
      taken_.swap(items_);
      is_called_ = false;
    }
    for (auto& item : taken_) take_(item);
    taken_.clear();
  }

  boost::asio::io_context& loop_;
  const std::function<void(Item&)> take_;
  std::mutex mutex_;  // guards the two below
  std::vector<Item> items_;
  bool is_called_ = false;
  std::vector<Item> taken_;  // the loop's
};

}  // namespace phsic
