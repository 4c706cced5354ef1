// Reloads the configuration at SIGHUP: takes over what can change without losing anything, and
// refuses the rest.
//
// A thread of its own reads the configuration and opens new streams. Belongs to the loop's thread.
#pragma once

#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <thread>

#include "daemon/config.h"
#include "daemon/start_progress.h"
#include "daemon/stream_opener.h"

namespace phsic {

class Reloader {
 public:
  using NewStreams = std::map<std::string, PreparedStream>;
  // Takes over a configuration that was read, in the loop, and starts the new streams. Throws when
  // it cannot: it has changed nothing then, and no stream that it was given is at work.
  using Adopt = std::function<void(Config, NewStreams&)>;

  // `reread` gives the configuration anew, or throws an Error that says what is wrong with it.
  // `ended` is called in the loop after each reload, taken over or not.
  Reloader(boost::asio::io_context& loop, StreamOpener& opener, StartProgress& progress,
           std::function<Config()> reread, Adopt adopt, std::function<void()> ended);
  ~Reloader();
  Reloader(const Reloader&) = delete;
  Reloader& operator=(const Reloader&) = delete;
  Reloader(Reloader&&) = delete;
  Reloader& operator=(Reloader&&) = delete;

  // Starts a reload. Before begin(), or while another one is under way, it follows that.
  void reload(const Config& running);
  // The daemon has started.
  void begin(const Config& running);
  // The daemon ends: a reload under way is broken off, and nothing is taken over any more.
  void stop();
  // Waits for the thread.
  void join();
  [[nodiscard]] bool is_reloading() const { return is_reloading_; }
  [[nodiscard]] bool is_asked_again() const { return is_asked_again_; }

  [[nodiscard]] std::uint64_t taken_over() const { return taken_over_; }
  [[nodiscard]] std::uint64_t refused() const { return refused_; }

 private:
  void read(const Config& running);
  void finish(Config wanted, NewStreams& added);
  void refuse(const std::string& why);
  void end();

  boost::asio::io_context& loop_;
  StreamOpener& opener_;
  StartProgress& progress_;
  const std::function<Config()> reread_;
  const Adopt adopt_;
  const std::function<void()> ended_;
  bool has_begun_ = false;
  bool is_reloading_ = false;
  bool is_asked_again_ = false;
  bool is_stopped_ = false;
  std::uint64_t taken_over_ = 0;
  std::uint64_t refused_ = 0;
  std::thread thread_;
};

}  // namespace phsic
