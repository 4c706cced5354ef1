// The ways in and out of a daemon: sockets for requests, for pairs and for the feed.
//
// Belongs to the loop's thread.
#pragma once

#include <boost/asio/io_context.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>
#include <zmq.hpp>

#include "daemon/config.h"
#include "daemon/net/connections.h"
#include "daemon/net/request_handler.h"
#include "daemon/net/source.h"
#include "daemon/net/zmq_feed.h"
#include "daemon/net/zmq_service.h"
#include "daemon/serving/feed_log.h"
#include "wire/facts.h"

namespace phsic {

class Transports {
 public:
  // Who hears what happens at the sockets, in the loop.
  struct Listeners {
    std::function<void(const Task&)> answered;
    std::function<void()> audience_changed;
    std::function<void()> flushed;  // answers that had to wait were tried again
  };

  // Binds the sockets, and publishes the feed. Nothing is read yet. Throws an Error.
  Transports(boost::asio::io_context& loop, const Config& config, FeedLog& feed,
             RequestHandler& handler, Listeners listeners);

  // From now on requests are read, and answered.
  void start_service();
  // From now on sources are read, and other daemons' feeds.
  void start_sources();

  // A stream's own sources, not read yet; none where it has none. Throws an Error.
  [[nodiscard]] std::unique_ptr<Source> make_source(const std::vector<std::string>& endpoints,
                                                    const std::string& stream);
  // Reads from it. It may be null.
  void start(std::unique_ptr<Source> source);

  // Reads some requests that have arrived already.
  void read_requests();
  // Sources are read no more; what they have read is taken in.
  void stop_sources();
  [[nodiscard]] bool has_unsent() const { return service_->has_unsent(); }
  // Gives up answers that are not read, and tells the log.
  void give_up_unsent();
  void close();

  // Frees what peers leave unread or behind. Once a second.
  void relieve();

  void add_facts(PingFacts& facts) const;
  void add_statistics(DaemonStatistics& statistics) const;

 private:
  [[nodiscard]] std::unique_ptr<Socket> make_socket(zmq::socket_type type);
  void open_service(RequestHandler& handler);
  void open_feed();
  void open_subscriptions();

  boost::asio::io_context& loop_;
  const Config config_;  // as it was at the start
  FeedLog& feed_;
  RequestHandler& handler_;
  const Listeners listeners_;
  Connections connections_;  // outlives the context
  zmq::context_t context_;
  std::unique_ptr<ZmqService> service_;
  std::unique_ptr<Socket> feed_socket_;
  std::unique_ptr<ZmqFeed> zmq_feed_;
  std::vector<std::unique_ptr<Source>> sources_;
  std::uint64_t left_out_told_ = 0;  // of the feed's messages, those that the log knows of
};

}  // namespace phsic
