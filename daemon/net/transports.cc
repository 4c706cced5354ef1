#include "daemon/net/transports.h"

#include <algorithm>
#include <utility>

#include "daemon/log.h"
#include "daemon/net/zmq_source.h"

namespace phsic {
namespace {

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

Transports::Transports(boost::asio::io_context& loop, const Config& config, FeedLog& feed,
                       RequestHandler& handler, Listeners listeners)
    : loop_(loop),
      config_(config),
      feed_(feed),
      handler_(handler),
      listeners_(std::move(listeners)),
      connections_(limits_of(config)) {
  open_service(handler);
  open_feed();
  const auto add = [this](std::unique_ptr<Source> made) {
    if (made != nullptr) sources_.push_back(std::move(made));
  };
  add(make_source(config_.ingest, {}));
  for (const auto& settings : config_.streams) add(make_source(settings.ingest, settings.name));
}

std::unique_ptr<Socket> Transports::make_socket(zmq::socket_type type) {
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

void Transports::open_service(RequestHandler& handler) {
  auto socket = make_socket(zmq::socket_type::router);
  // An answer that cannot be delivered is noticed and counted.
  socket->zmq().set(zmq::sockopt::router_mandatory, 1);
  for (const auto& endpoint : config_.service) socket->bind(endpoint);
  service_ = std::make_unique<ZmqService>(
      loop_, std::move(socket), ZmqService::Limits{config_.message_bytes, config_.request_pairs},
      handler, listeners_.answered, listeners_.flushed);
}

void Transports::open_feed() {
  feed_socket_ = make_socket(zmq::socket_type::xpub);
  feed_socket_->zmq().set(zmq::sockopt::sndhwm, static_cast<int>(config_.feed_queue));
  feed_socket_->zmq().set(zmq::sockopt::maxmsgsize, static_cast<std::int64_t>(kTopicBytes));
  connections_.bind_feed(*feed_socket_, config_.feed);
  zmq_feed_ = std::make_unique<ZmqFeed>(*feed_socket_, config_.feed_bytes,
                                        [this] { listeners_.audience_changed(); });
  feed_.add(*zmq_feed_);
}

std::unique_ptr<Source> Transports::make_source(const std::vector<std::string>& endpoints,
                                                const std::string& stream) {
  if (endpoints.empty()) return nullptr;
  auto socket = make_socket(zmq::socket_type::pull);
  for (const auto& endpoint : endpoints) socket->bind(endpoint);
  ZmqSource::Options options;
  options.stream = stream;
  options.message_bytes = config_.message_bytes;
  options.request_pairs = config_.request_pairs;
  return std::make_unique<ZmqSource>(loop_, std::move(socket), std::move(options), handler_);
}

void Transports::open_subscriptions() {
  for (const auto& subscription : config_.subscribe) {
    auto socket = make_socket(zmq::socket_type::sub);
    socket->zmq().set(zmq::sockopt::subscribe, subscription.topic);
    socket->connect(subscription.endpoint);
    ZmqSource::Options options;
    options.stream = subscription.stream;
    options.is_feed = true;
    options.topic = subscription.topic;
    options.own_name = feed_.name();
    options.message_bytes = config_.message_bytes;
    options.request_pairs = config_.request_pairs;
    start(std::make_unique<ZmqSource>(loop_, std::move(socket), std::move(options), handler_));
  }
}

void Transports::start_service() {
  for (const auto& endpoint : service_->endpoints()) {
    log(LogLevel::kInfo, "listening", {{"socket", "service"}, {"endpoint", endpoint}});
  }
  service_->start();
}

void Transports::start_sources() {
  for (const auto& source : sources_) source->start();
  open_subscriptions();
}

void Transports::start(std::unique_ptr<Source> source) {
  if (source != nullptr) sources_.emplace_back(std::move(source))->start();
}

void Transports::read_requests() { service_->read_now(kLastMessages, kLastBytes); }

void Transports::stop_sources() {
  for (const auto& source : sources_) source->stop();
}

void Transports::give_up_unsent() {
  service_->give_up();
  log(LogLevel::kWarning, "unread answers", {{"lost", service_->lost_answers()}});
}

void Transports::close() {
  for (const auto& source : sources_) source->close();
  service_->close(kLinger);
  feed_socket_->close(kLinger);
}

void Transports::relieve() {
  connections_.forget_closed();
  connections_.tell_turned_away();
  service_->forget_idle();
  connections_.look({service_->is_crowded(), zmq_feed_->is_crowded()});
  if (const auto left_out = zmq_feed_->left_out(); left_out != left_out_told_) {
    log(LogLevel::kWarning, "feed is crowded",
        {{"left-out", left_out - std::exchange(left_out_told_, left_out)}});
  }
}

void Transports::add_facts(PingFacts& facts) const {
  facts.service = service_->endpoints();
  for (const auto& source : sources_) {
    const auto endpoints = source->public_endpoints();
    facts.ingest.insert(facts.ingest.end(), endpoints.begin(), endpoints.end());
  }
  facts.feed = feed_socket_->endpoints();
}

void Transports::add_statistics(DaemonStatistics& statistics) const {
  statistics.requests = service_->requests();
  statistics.replies = service_->answers();
  statistics.bad_requests = service_->bad_requests();
  statistics.lost_replies = service_->lost_answers();
  for (const auto& source : sources_) {
    const auto& counts = source->counts();
    statistics.messages += counts.messages;
    statistics.bad_messages += counts.bad;
    statistics.passed_over += counts.passed_over;
    statistics.stalled += counts.stalled;
  }
  statistics.published = zmq_feed_->published();
  statistics.left_out = zmq_feed_->left_out();
  statistics.closed = connections_.cut();
}

}  // namespace phsic
