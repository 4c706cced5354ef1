// The start of a daemon: opens its streams in a thread of its own while the loop serves, tells how
// far it is, and can be broken off.
//
// For the loop's thread.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <thread>
#include <vector>

#include "daemon/config.h"
#include "daemon/start_progress.h"
#include "daemon/stream_opener.h"
#include "wire/facts.h"

namespace phsic {

class Starter {
 public:
  // Called in the loop with the streams, or with what went wrong.
  using Started = std::function<void(std::vector<PreparedStream>, std::exception_ptr failure)>;

  Starter(boost::asio::io_context& loop, StreamOpener& opener, StartProgress& progress,
          StartMode mode);
  ~Starter();
  Starter(const Starter&) = delete;
  Starter& operator=(const Starter&) = delete;
  Starter(Starter&&) = delete;
  Starter& operator=(Starter&&) = delete;

  void start(const Config& config, Started started);
  [[nodiscard]] bool is_starting() const { return is_starting_; }

  // Tells systemd, and now and then the log, how far the start is. Once a second.
  void show();
  [[nodiscard]] PingFacts::Starting facts() const;
  // Breaks the start off. What was opened by then is given up; a thread that does not end within a
  // second is left behind, and ends with the process.
  void break_off();
  // Waits for the thread.
  void join();

 private:
  using Clock = std::chrono::steady_clock;

  boost::asio::io_context& loop_;
  StreamOpener& opener_;
  StartProgress& progress_;
  const StartMode mode_;
  boost::asio::steady_timer patience_;
  bool is_starting_ = true;
  std::uint64_t steps_shown_ = 0;
  const Clock::time_point began_ = Clock::now();
  Clock::time_point told_ = began_;
  std::thread thread_;
};

}  // namespace phsic
