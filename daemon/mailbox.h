// What other threads bring to the loop's thread, in order. The loop is called once for all that
// waits.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "daemon/serving/when_memory.h"

namespace phsic {

template <class Item>
class Mailbox {
 public:
  // `take` is called in the loop's thread, for one item after the other. It is not called any more
  // when the mailbox is gone. REQUIRES: the mailbox is destroyed in the loop's thread, or when the
  // loop does not run.
  Mailbox(boost::asio::io_context& loop, std::function<void(Item&)> take)
      : box_(std::make_shared<Box>(loop, std::move(take))) {}

  // Any thread. Waits while there is no memory for it.
  void put(Item item) const {
    when_there_is_memory([&] {
      const std::lock_guard lock(box_->mutex);
      if (!box_->is_called) {
        boost::asio::post(box_->loop, [box = std::weak_ptr(box_)] { deliver(box); });
      }
      box_->is_called = true;
      box_->items.push_back(std::move(item));  // moves nothing if it throws
    });
  }

 private:
  struct Box {
    Box(boost::asio::io_context& to, std::function<void(Item&)> taker)
        : loop(to), take(std::move(taker)) {}

    boost::asio::io_context& loop;
    const std::function<void(Item&)> take;
    std::mutex mutex;  // guards the two below
    std::vector<Item> items;
    bool is_called = false;
  };

  static void deliver(const std::weak_ptr<Box>& weak) {
    std::vector<Item> items;
    if (const auto box = weak.lock()) {
      const std::lock_guard lock(box->mutex);
      items.swap(box->items);
      box->is_called = false;
    }
    for (auto& item : items) {
      // What was taken before may have been the end of the mailbox.
      if (const auto box = weak.lock()) box->take(item);
    }
    items.clear();
    if (const auto box = weak.lock()) {
      // The next items need no new memory.
      const std::lock_guard lock(box->mutex);
      if (box->items.capacity() == 0) box->items.swap(items);
    }
  }

  std::shared_ptr<Box> box_;
};

}  // namespace phsic
