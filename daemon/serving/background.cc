#include "daemon/serving/background.h"

#include <utility>

#include "engine/priority.h"

namespace phsic {

Background::Background(std::function<void()> ended)
    : ended_(std::move(ended)), thread_([this] { run(); }) {}

Background::~Background() {
  close();
  join();
}

void Background::add(std::function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    works_.push_back(std::move(work));
  }
  filled_.notify_one();
}

void Background::close() {
  {
    const std::lock_guard lock(mutex_);
    is_closed_ = true;
  }
  filled_.notify_one();
}

void Background::join() {
  if (thread_.joinable()) thread_.join();
}

void Background::run() {
  give_way_to_scoring();
  while (true) {
    std::function<void()> work;
    {
      std::unique_lock lock(mutex_);
      filled_.wait(lock, [&] { return is_closed_ || !works_.empty(); });
      if (works_.empty()) break;
      work = std::move(works_.front());
      works_.pop_front();
    }
    work();
  }
  ended_();
}

}  // namespace phsic
