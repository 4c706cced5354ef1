// A thread for what takes long and nobody who scores waits for, with a lower priority: one piece of
// work after the other.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace phsic {

class Background {
 public:
  // `ended` is called in the thread, last of all.
  explicit Background(std::function<void()> ended);
  // Closes, and waits for the end.
  ~Background();
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;
  Background(Background&&) = delete;
  Background& operator=(Background&&) = delete;

  // Any thread. The work must not throw. REQUIRES: not closed.
  void add(std::function<void()> work);
  // Ends when all that was added is done.
  void close();
  // Waits for the end. One thread. REQUIRES: closed.
  void join();

 private:
  void run();

  std::mutex mutex_;  // guards the three below
  std::condition_variable filled_;
  std::deque<std::function<void()>> works_;
  bool is_closed_ = false;
  std::function<void()> ended_;
  std::thread thread_;
};

}  // namespace phsic
