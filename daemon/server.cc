#include "daemon/server.h"

#include <fmt/format.h>

#include <boost/asio/post.hpp>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <utility>

#include "daemon/log.h"
#include "daemon/notify.h"
#include "daemon/serving/when_memory.h"
#include "engine/reason.h"

namespace phsic {
namespace {

constexpr auto kTick = std::chrono::seconds(1);
// How long clients that do not read their answers are waited for at the end.
constexpr auto kGrace = std::chrono::seconds(1);

}  // namespace

Server::Server(Config config, std::function<Config()> reread, StartMode mode)
    : config_(std::move(config)),
      work_(boost::asio::make_work_guard(loop_)),
      signals_(loop_, SIGTERM, SIGINT, SIGHUP),
      ticker_(loop_),
      drain_timer_(loop_),
      watchdog_(loop_),
      opener_(
          config_,
          [this](bool is_keeping, const std::string& message) {
            boost::asio::post(loop_,
                              [this, is_keeping, message] { show_keeping(is_keeping, message); });
          },
          [this](std::uint64_t bytes) {
            boost::asio::post(loop_, [this, bytes] { show_log(bytes); });
          }),
      registry_(loop_, feed_),
      dispatcher_(registry_, [this](const Request& request,
                                    Outcome& outcome) { status_.answer(request, outcome); }),
      // What can fail comes before anything is written.
      transports_(loop_, config_, feed_, dispatcher_,
                  {[this](const Task& task) { dispatcher_.note_answer(task); },
                   [this] {
                     for (auto& [name, stream] : registry_.all()) stream.look_for_audience();
                   },
                   [this] { stop_if_drained(); }}),
      starter_(loop_, opener_, progress_, mode),
      reloader_(
          loop_, opener_, progress_, std::move(reread),
          [this](Config wanted, Reloader::NewStreams& added) { adopt(std::move(wanted), added); },
          [this] {
            stop_if_drained();
            if (reloader_.is_asked_again()) reloader_.reload(config_);
          }),
      status_(config_, registry_, transports_, starter_, reloader_, opener_) {}

Server::~Server() {
  starter_.join();
  reloader_.join();
  registry_.clear();
  opener_.close();
}

int Server::run() {
  await_signal();
  tick();
  if (const auto interval = watchdog_interval()) show_life(*interval / 2);
  transports_.start_service();
  starter_.start(config_,
                 [this](std::vector<PreparedStream> streams, const std::exception_ptr& failure) {
                   end_start(std::move(streams), failure);
                 });
  loop_.run();
  starter_.join();
  if (failure_ != nullptr) std::rethrow_exception(failure_);
  int status = 0;
  // The last snapshots were tried, and what was accepted is lost.
  if (const auto* writer = opener_.state_writer(); writer != nullptr && !writer->is_keeping()) {
    log(LogLevel::kError, "ends without having kept everything", {{"problem", writer->problem()}});
    status = 1;
  }
  transports_.close();
  log(LogLevel::kInfo, "ended", {{"status", status}});
  return status;
}

// From the loop itself: if it hangs, systemd hears nothing.
void Server::show_life(std::chrono::microseconds interval) {
  notify_alive();
  watchdog_.expires_after(interval);
  watchdog_.async_wait([this, interval](const boost::system::error_code& error) {
    if (!error) show_life(interval);
  });
}

void Server::await_signal() {
  signals_.async_wait([this](const boost::system::error_code& error, int signal) {
    if (error) return;
    on_signal(signal);
    await_signal();
  });
}

void Server::on_signal(int signal) {
  if (is_draining_) return;
  if (signal == SIGHUP) {
    reloader_.reload(config_);
  } else if (starter_.is_starting()) {
    break_off_start();
  } else {
    drain();
  }
}

void Server::tick() {
  transports_.relieve();
  spare_memory_.give_back();
  if (starter_.is_starting()) starter_.show();
  for (auto& [name, stream] : registry_.all()) {
    stream.tell_overload();
    stream.tell_unheard();
  }
  ticker_.expires_after(kTick);
  ticker_.async_wait([this](const boost::system::error_code& error) {
    if (!error) tick();
  });
}

// ---- The start ----

void Server::end_start(std::vector<PreparedStream> streams, const std::exception_ptr& failure) {
  if (!is_draining_ && failure == nullptr) {
    try {
      finish_start(std::move(streams));
      return;
    } catch (...) {
      failure_ = std::current_exception();
    }
  }
  if (!is_draining_ && failure != nullptr) failure_ = failure;
  loop_.stop();
}

void Server::finish_start(std::vector<PreparedStream> streams) {
  if (auto* writer = opener_.state_writer()) {
    feed_.keep(
        [writer](const std::string& topic, std::uint64_t last) { writer->put_feed(topic, last); });
  }
  Registry::Streams started;
  for (std::size_t i = 0; i < config_.streams.size(); ++i) {
    registry_.start(config_.streams[i], std::move(streams[i]), started);
  }
  registry_.add(started);
  for (const auto& [name, stream] : registry_.all()) {
    log(LogLevel::kInfo, "stream", {{"stream", name}});
  }
  transports_.start_sources();
  for (auto& [name, stream] : registry_.all()) stream.look_for_audience();
  log(LogLevel::kInfo, "ready", {{"version", PHSIC_VERSION}, {"streams", registry_.all().size()}});
  notify_status("");
  notify_ready();
  dispatcher_.begin_serving();
  reloader_.begin(config_);
}

// Nothing was written that cannot be left as it is.
void Server::break_off_start() {
  is_draining_ = true;
  notify_stopping();
  starter_.break_off();
  dispatcher_.stop_serving();
}

// ---- A reload ----

// What can fail comes first: all or nothing.
void Server::adopt(Config wanted, Reloader::NewStreams& added) {
  std::vector<std::unique_ptr<Source>> sources;
  std::vector<std::pair<ServedStream*, LaneUpdate>> updates;
  for (const auto& settings : wanted.streams) {
    if (added.contains(settings.name)) {
      sources.push_back(transports_.make_source(settings.ingest, settings.name));
    } else {
      updates.emplace_back(&registry_.find(settings.name), LaneUpdate(settings));
    }
  }
  auto started = start_new(wanted, added);
  // From here on the configuration is in force.
  registry_.add(started);
  for (auto& [stream, update] : updates) stream->update(std::move(update));
  config_ = std::move(wanted);
  try {
    for (const auto& [name, stream] : added) log(LogLevel::kInfo, "stream", {{"stream", name}});
    for (auto& source : sources) transports_.start(std::move(source));
    set_up_log(config_.log_level, config_.log_format);
    for (auto& [name, stream] : registry_.all()) stream.look_for_audience();
    log(LogLevel::kInfo, "reloaded", {{"streams", registry_.all().size()}});
  } catch (const std::exception& problem) {
    when_there_is_memory([&] {
      log(LogLevel::kError, "reloaded in part", {{"problem", reason(problem)}});
    });
  }
}

// Starts the new streams, or none of them.
Registry::Streams Server::start_new(const Config& wanted, Reloader::NewStreams& added) {
  Registry::Streams started;
  try {
    for (const auto& settings : wanted.streams) {
      const auto found = added.find(settings.name);
      if (found != added.end()) registry_.start(settings, std::move(found->second), started);
    }
  } catch (...) {
    registry_.drop(started);
    throw;
  }
  return started;
}

// ---- The end ----

void Server::arm_drain_timer() {
  drain_timer_.expires_after(std::chrono::duration_cast<Clock::duration>(
      std::chrono::duration<double>(config_.drain_seconds)));
  drain_timer_.async_wait([this](const boost::system::error_code& error) {
    if (error) return;
    // A thread that does not end cannot be joined: leave everything as it is.
    log(LogLevel::kError, "not drained", {{"seconds", config_.drain_seconds}});
    std::_Exit(1);
  });
}

void Server::drain() {
  arm_drain_timer();
  // What clients have sent is accepted, as far as it has arrived.
  transports_.read_requests();
  is_draining_ = true;
  dispatcher_.stop_serving();
  reloader_.stop();  // it must not hold the end up
  log(LogLevel::kInfo, "draining", {{"seconds", config_.drain_seconds}});
  notify_stopping();
  transports_.stop_sources();
  registry_.close([this] { stop_if_drained(); });
  stop_if_drained();
}

void Server::stop_if_drained() {
  if (!is_draining_ || starter_.is_starting() || reloader_.is_reloading() ||
      !registry_.is_closed()) {
    return;
  }
  if (!grace_ends_) {
    // Those who asked meanwhile are told that it is over.
    transports_.read_requests();
    grace_ends_ = Clock::now() + kGrace;
  }
  if (transports_.has_unsent()) {
    if (Clock::now() < *grace_ends_) return;  // the next flush comes back here
    transports_.give_up_unsent();
  }
  drain_timer_.cancel();
  feed_.settle();
  loop_.stop();
}

// ---- What is told ----

void Server::show_keeping(bool is_keeping, const std::string& message) {
  log(is_keeping ? LogLevel::kInfo : LogLevel::kError,
      is_keeping ? "state kept again" : "state not kept",
      {{"file", config_.state}, {"problem", message}});
  for (const auto& [name, stream] : registry_.all()) {
    feed_.publish(name, StateEvent{is_keeping, std::nullopt, message});
  }
  if (is_keeping) feed_.reserve_all();
  notify_status(is_keeping ? "" : fmt::format("not keeping what is learned: {}", message));
}

void Server::show_log(std::uint64_t bytes) {
  const bool is_short = bytes == 0;
  const std::string message =
      is_short ? "SQLite's log is written into the state again"
               : "SQLite's log cannot be written into the state: somebody reads the file for long";
  log(is_short ? LogLevel::kInfo : LogLevel::kWarning,
      is_short ? "log of the state is short again" : "log of the state grows",
      {{"file", config_.state}, {"bytes", bytes}, {"problem", message}});
  for (const auto& [name, stream] : registry_.all()) {
    feed_.publish(name, StateEvent{opener_.state_writer()->is_keeping(), bytes, message});
  }
}

}  // namespace phsic
