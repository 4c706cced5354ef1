// The daemon's life: starts, serves, reloads and ends.
//
//   starter ─> registry of streams <─ dispatcher <─ transports
//   reloader ──┘         └─> feed ─────────────────────┘
//
// Everything here happens in the thread that calls run().
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "daemon/config.h"
#include "daemon/dispatcher.h"
#include "daemon/memory.h"
#include "daemon/net/transports.h"
#include "daemon/registry.h"
#include "daemon/reloader.h"
#include "daemon/serving/feed_log.h"
#include "daemon/start_progress.h"
#include "daemon/starter.h"
#include "daemon/status.h"
#include "daemon/stream_opener.h"

namespace phsic {

class Server {
 public:
  // Locks the state and binds the sockets. `reread` gives the configuration anew; it throws an
  // Error that says what is wrong with it. Throws an Error.
  Server(Config config, std::function<Config()> reread, StartMode mode);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  Server(Server&&) = delete;
  Server& operator=(Server&&) = delete;

  // Opens the streams and serves until SIGTERM or SIGINT. Returns the exit status: 0 when all that
  // was accepted has been answered. Throws an Error when it cannot start.
  int run();

 private:
  using Clock = std::chrono::steady_clock;

  // Life.
  void await_signal();
  void on_signal(int signal);
  void tick();
  void show_life(std::chrono::microseconds interval);
  void end_start(std::vector<PreparedStream> streams, const std::exception_ptr& failure);
  void finish_start(std::vector<PreparedStream> streams);
  void break_off_start();
  void adopt(Config wanted, Reloader::NewStreams& added);
  [[nodiscard]] Registry::Streams start_new(const Config& wanted, Reloader::NewStreams& added);
  void drain();
  void arm_drain_timer();
  void stop_if_drained();

  // What is told.
  void show_keeping(bool is_keeping, const std::string& message);
  void show_log(std::uint64_t bytes);

  Config config_;
  boost::asio::io_context loop_;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  boost::asio::signal_set signals_;
  boost::asio::steady_timer ticker_;
  boost::asio::steady_timer drain_timer_;
  boost::asio::steady_timer watchdog_;
  StartProgress progress_;  // of a reload, too
  StreamOpener opener_;
  FeedLog feed_;
  Registry registry_;
  Dispatcher dispatcher_;
  Transports transports_;
  Starter starter_;
  Reloader reloader_;
  Status status_;
  SpareMemory spare_memory_;
  std::exception_ptr failure_;  // why it could not start
  bool is_draining_ = false;
  std::optional<Clock::time_point> grace_ends_;
};

}  // namespace phsic
