#include "daemon/server.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <csignal>

#include "daemon/log.h"
#include "daemon/notify.h"
#include "state/replacement.h"
#include "wire/json_text.h"

namespace phsic {
namespace {

constexpr auto kTick = std::chrono::seconds(1);
// Requests and messages that ZeroMQ reads ahead of us for one peer. Together with the largest
// message this bounds what a peer can make us keep.
constexpr std::uint64_t kReadAhead = 64;
constexpr std::uint64_t kLeastReadAhead = 4;
constexpr std::uint64_t kReadAheadBytes = std::uint64_t{1} << 30U;
constexpr int kSendAhead = 256;
// Seconds. A host that does not answer three times is gone.
constexpr int kKeepAliveIdle = 10;
constexpr int kKeepAliveInterval = 10;
constexpr int kKeepAliveCount = 3;
constexpr int kLinger = 1000;  // milliseconds
constexpr auto kFlush = std::chrono::milliseconds(2);
// How long clients that do not read their answers are waited for at the end.
constexpr auto kGrace = std::chrono::seconds(1);

// What is still read when the daemon is told to end. More may come as fast as it is read.
constexpr std::size_t kLastMessages = 1024;
constexpr std::size_t kLastBytes = 64U << 20U;

// Who subscribes has no more to say than some names of topics.
constexpr std::uint64_t kTopicBytes = 1024;
constexpr std::uint64_t kSubscriptionBytes = 128U << 10U;
// Of all messages that are not whole yet.
constexpr std::uint64_t kPendingBytes = 256U << 20U;

// JSON and two frames of vectors, each as large as may be.
std::uint64_t largest_message(const Config& config) { return 4 * config.message_bytes; }

int read_ahead(const Config& config) {
  const auto count = kReadAheadBytes / largest_message(config);
  return static_cast<int>(std::clamp(count, kLeastReadAhead, kReadAhead));
}

Connections::Limits limits_of(const Config& config) {
  Connections::Limits limits;
  // Up to there the client is told that it is too large.
  limits.frame_bytes = 2 * config.message_bytes;
  limits.message_bytes = largest_message(config);
  limits.pending_bytes = std::max(kPendingBytes, 4 * limits.message_bytes);
  limits.topic_bytes = kTopicBytes;
  limits.subscription_bytes = kSubscriptionBytes;
  return limits;
}

}  // namespace

Server::Server(Config config, std::function<Config()> reread, StartMode mode)
    : config_(std::move(config)),
      reread_(std::move(reread)),
      work_(boost::asio::make_work_guard(loop_)),
      signals_(loop_, SIGTERM, SIGINT, SIGHUP),
      ticker_(loop_),
      drain_timer_(loop_),
      watchdog_(loop_),
      flusher_(loop_),
      connections_(limits_of(config_)),
      decoder_({config_.request_pairs}),
      start_mode_(mode) {
  if (!config_.state.empty()) lock_state();
  // What can fail comes before anything is written.
  open_sockets();
}

Server::~Server() {
  if (starter_.joinable()) starter_.join();
  if (reloader_.joinable()) reloader_.join();
  streams_.clear();
  state_writer_ = nullptr;
}

void Server::show_keeping(bool keeping, const std::string& message) {
  log(keeping ? LogLevel::kInfo : LogLevel::kError, keeping ? "state kept again" : "state not kept",
      {{"file", config_.state}, {"problem", message}});
  for (const auto& [name, served] : streams_) {
    feed_->publish_event(name, fmt::format("\"event\":\"state\",\"keeping\":{},\"message\":{}}}",
                                           keeping, quoted_json(message)));
  }
  if (keeping) feed_->reserve_all();
  notify_status(keeping ? "" : fmt::format("not keeping what is learned: {}", message));
}

void Server::show_log(std::uint64_t bytes) {
  const std::string message =
      bytes == 0
          ? "SQLite's log is written into the state again"
          : "SQLite's log cannot be written into the state: somebody reads the file for long";
  log(bytes == 0 ? LogLevel::kInfo : LogLevel::kWarning,
      bytes == 0 ? "log of the state is short again" : "log of the state grows",
      {{"file", config_.state}, {"bytes", bytes}, {"problem", message}});
  for (const auto& [name, served] : streams_) {
    feed_->publish_event(
        name, fmt::format("\"event\":\"state\",\"keeping\":{},\"log_bytes\":{},\"message\":{}}}",
                          state_writer_->is_keeping(), bytes, quoted_json(message)));
  }
}

void Server::add_stream(const StreamSettings& settings, Prepared prepared) {
  LaneListener& listener = *this;
  if (state_writer_ != nullptr) feed_->go_on(settings.name, prepared.feed);
  streams_[settings.name].lane = std::make_unique<Lane>(settings, std::move(prepared.opened.stream),
                                                        std::move(prepared.opened.recovery),
                                                        std::move(prepared.journal), listener);
  log(LogLevel::kInfo, "stream", {{"stream", settings.name}});
}

std::unique_ptr<Socket> Server::make_socket(zmq::socket_type type) {
  auto socket = std::make_unique<Socket>(loop_, context_, type);
  auto& raw = socket->zmq();
  raw.set(zmq::sockopt::linger, kLinger);
  raw.set(zmq::sockopt::rcvhwm, read_ahead(config_));
  raw.set(zmq::sockopt::sndhwm, kSendAhead);
  raw.set(zmq::sockopt::maxmsgsize, static_cast<std::int64_t>(2 * config_.message_bytes));
  // And no heartbeats of ZeroMQ's own: libzmq 4.3 aborts (out_event: !_io_error) when one is due to
  // a peer that has hung up while nobody was reading what it had sent.
  raw.set(zmq::sockopt::tcp_keepalive, 1);
  raw.set(zmq::sockopt::tcp_keepalive_idle, kKeepAliveIdle);
  raw.set(zmq::sockopt::tcp_keepalive_intvl, kKeepAliveInterval);
  raw.set(zmq::sockopt::tcp_keepalive_cnt, kKeepAliveCount);
  return socket;
}

void Server::open_sockets() {
  service_ = make_socket(zmq::socket_type::router);
  // A reply that cannot be delivered is noticed and counted.
  service_->zmq().set(zmq::sockopt::router_mandatory, 1);
  for (const auto& endpoint : config_.service) service_->bind(endpoint);
  outbox_ = std::make_unique<Outbox>(*service_);

  feed_socket_ = make_socket(zmq::socket_type::xpub);
  feed_socket_->zmq().set(zmq::sockopt::sndhwm, static_cast<int>(config_.feed_queue));
  feed_socket_->zmq().set(zmq::sockopt::maxmsgsize, static_cast<std::int64_t>(kTopicBytes));
  connections_.bind_feed(*feed_socket_, config_.feed);
  feed_ = std::make_unique<Feed>(*feed_socket_, config_.feed_bytes, [this] { tell_audience(); });

  const auto add = [this](std::unique_ptr<Entrance> made) {
    if (made != nullptr) entrances_.push_back(std::move(made));
  };
  add(make_entrance(config_.ingest, {}));
  for (const auto& settings : config_.streams) add(make_entrance(settings.ingest, settings.name));
}

// Once the streams are there.
void Server::start_reading() {
  for (auto& entrance : entrances_) read(*entrance);
  open_subscriptions();
}

// Null where there are no endpoints. Nothing is read from it yet.
std::unique_ptr<Server::Entrance> Server::make_entrance(const std::vector<std::string>& endpoints,
                                                        const std::string& stream) {
  if (endpoints.empty()) return nullptr;
  auto entrance = std::make_unique<Entrance>();
  entrance->stream = stream;
  entrance->socket = make_socket(zmq::socket_type::pull);
  for (const auto& endpoint : endpoints) entrance->socket->bind(endpoint);
  return entrance;
}

void Server::open(std::unique_ptr<Entrance> made) {
  if (made != nullptr) read(*entrances_.emplace_back(std::move(made)));
}

void Server::read(Entrance& entrance) {
  entrance.socket->read([this, &entrance](Frames& frames) { take_message(entrance, frames); });
}

void Server::open_subscriptions() {
  for (const auto& subscription : config_.subscribe) {
    auto entrance = std::make_unique<Entrance>();
    entrance->stream = subscription.stream;
    entrance->is_strict = false;
    entrance->has_topic = true;
    entrance->topic = subscription.topic;
    entrance->socket = make_socket(zmq::socket_type::sub);
    entrance->socket->zmq().set(zmq::sockopt::subscribe, subscription.topic);
    entrance->socket->connect(subscription.endpoint);
    open(std::move(entrance));
  }
}

int Server::run() {
  await_signal();
  tick();
  if (const auto interval = watchdog_interval()) show_life(*interval / 2);
  for (const auto& endpoint : service_->endpoints()) {
    log(LogLevel::kInfo, "listening", {{"socket", "service"}, {"endpoint", endpoint}});
  }
  begin_start();
  loop_.run();
  if (starter_.joinable()) starter_.join();
  if (failure_ != nullptr) std::rethrow_exception(failure_);
  // The last snapshots were tried, and what was accepted is lost.
  if (state_writer_ != nullptr && !state_writer_->is_keeping()) {
    log(LogLevel::kError, "ends without having kept everything",
        {{"problem", state_writer_->problem()}});
    status_ = 1;
  }
  for (auto& entrance : entrances_) entrance->socket->close(0);
  service_->close(kLinger);
  feed_socket_->close(kLinger);
  log(LogLevel::kInfo, "ended", {{"status", status_}});
  return status_;
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
  if (signal == SIGHUP) {
    reload();
  } else if (!is_draining_ && is_starting_) {
    break_off_start();
  } else if (!is_draining_) {
    drain();
  }
}

// What peers leave unread or behind must not be kept for ever.
void Server::relieve() {
  connections_.forget_closed();
  connections_.tell_turned_away();
  outbox_->forget_idle();
  connections_.look({outbox_->is_crowded(), feed_->is_crowded()});
  spare_memory_.give_back();
}

void Server::tick() {
  relieve();
  if (is_starting_) show_start();
  for (auto& [name, served] : streams_) {
    const auto overloaded = served.lane->overloaded();
    if (overloaded == served.overloaded_told) continue;
    const auto more = overloaded - std::exchange(served.overloaded_told, overloaded);
    // Of the same meaning: `shed` is its name up to 0.1.
    feed_->publish_event(
        name, fmt::format("\"event\":\"overload\",\"overloaded\":{0},\"shed\":{0}}}", more));
    log(LogLevel::kWarning, "overload", {{"stream", name}, {"overloaded", more}});
  }
  if (const auto left_out = feed_->left_out(); left_out != left_out_told_) {
    log(LogLevel::kWarning, "feed is crowded",
        {{"left-out", left_out - std::exchange(left_out_told_, left_out)}});
  }
  ticker_.expires_after(kTick);
  ticker_.async_wait([this](const boost::system::error_code& error) {
    if (!error) tick();
  });
}

void Server::tell_audience() {
  for (auto& [name, served] : streams_) {
    served.lane->set_audience(feed_->has_audience(fmt::format("{}/score", name)),
                              feed_->has_audience(fmt::format("{}/flag", name)));
  }
}

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
  service_->read_now(kLastMessages, kLastBytes);
  is_draining_ = true;
  progress_.cancel();  // a reload must not hold it up
  log(LogLevel::kInfo, "draining", {{"seconds", config_.drain_seconds}});
  notify_stopping();
  for (auto& entrance : entrances_) {
    entrance->socket->pause();
    // It has been read, and would be lost.
    if (entrance->parked != nullptr) entrance->parked->lane->admit(entrance->parked);
    entrance->parked = nullptr;
  }
  for (auto& [name, served] : streams_) served.lane->close();
  stop_if_drained();
}

void Server::stop_if_drained() {
  if (!is_draining_ || is_reloading_ || lanes_closed_ < streams_.size()) return;
  if (!grace_ends_) {
    // Those who asked meanwhile are told that it is over.
    service_->read_now(kLastMessages, kLastBytes);
    grace_ends_ = Clock::now() + kGrace;
  }
  if (!outbox_->is_empty()) {
    if (Clock::now() < *grace_ends_) return;  // flush_later() comes back
    outbox_->give_up();
    log(LogLevel::kWarning, "unread answers", {{"lost", outbox_->lost()}});
  }
  drain_timer_.cancel();
  feed_->settle();
  loop_.stop();
}

// ZeroMQ does not tell when a client of a ROUTER has room again.
void Server::flush_later() {
  if (flushes_later_ || outbox_->is_empty()) return;
  flushes_later_ = true;
  flusher_.expires_after(kFlush);
  flusher_.async_wait([this](const boost::system::error_code& error) {
    if (error) return;
    flushes_later_ = false;
    outbox_->flush();
    flush_later();
    stop_if_drained();
  });
}

// ---- The LaneListener ----

void Server::call_loop() {
  if (is_called_) return;
  is_called_ = true;
  boost::asio::post(loop_, [this] { take_deliveries(); });
}

void Server::deliver(std::shared_ptr<Job> job) {
  const std::lock_guard lock(listener_mutex_);
  delivered_.push_back(std::move(job));
  call_loop();
}

void Server::announce(Lane& lane, std::string event) {
  const std::lock_guard lock(listener_mutex_);
  announced_.emplace_back(&lane, std::move(event));
  call_loop();
}

void Server::make_way(Lane& lane) {
  const std::lock_guard lock(listener_mutex_);
  ways_.push_back(&lane);
  call_loop();
}

void Server::closed(Lane& lane) {
  const std::lock_guard lock(listener_mutex_);
  closed_.push_back(&lane);
  call_loop();
}

// The job has its answer: who asked must not get another.
void Server::publish(const Job& job) {
  if (job.operation != Operation::kScore) return;
  try {
    feed_->publish_scores(job.lane->name(), job);
  } catch (const std::bad_alloc&) {
    log(LogLevel::kError, "no memory for the feed", {{"stream", job.lane->name()}});
  }
}

void Server::finish(Job& job) {
  if (!job.client.empty()) reply(job, std::move(job.reply));
  publish(job);
  const auto now = Clock::now();
  streams_.at(job.lane->name()).latency.add(now - job.arrived, now);
}

void Server::take_deliveries() {
  std::vector<std::shared_ptr<Job>> delivered;
  std::vector<std::pair<Lane*, std::string>> announced;
  std::vector<Lane*> ways;
  std::vector<Lane*> closed;
  {
    const std::lock_guard lock(listener_mutex_);
    delivered.swap(delivered_);
    announced.swap(announced_);
    ways.swap(ways_);
    closed.swap(closed_);
    is_called_ = false;
  }
  for (const auto& job : delivered) {
    try {
      finish(*job);
    } catch (const std::bad_alloc&) {
      log(LogLevel::kError, "no memory for an answer", {{"stream", job->lane->name()}});
    }
  }
  for (const auto& [lane, event] : announced) {
    feed_->publish_event(lane->name(), event);
    log(LogLevel::kInfo, "event",
        {{"stream", lane->name()}, LogField::json("what", fmt::format("{{{}", event))});
  }
  for (const auto* lane : ways) {
    if (is_draining_) break;  // nothing is parked any more
    for (auto& entrance : entrances_) {
      if (entrance->parked != nullptr && entrance->parked->lane == lane) {
        let_in(*entrance, std::move(entrance->parked));
      }
    }
  }
  lanes_closed_ += closed.size();
  if (!closed.empty()) stop_if_drained();
}

}  // namespace phsic
