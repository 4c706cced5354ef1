// Requests over ZeroMQ: a ROUTER socket that clients ask, and get their answers from.
//
// Belongs to the loop's thread; lanes tell its callers from threads of their own.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "daemon/mailbox.h"
#include "daemon/net/outbox.h"
#include "daemon/net/request_handler.h"
#include "daemon/net/socket.h"
#include "wire/decode.h"

namespace phsic {

class ZmqService {
 public:
  struct Limits {
    std::uint64_t message_bytes = 0;  // of one frame
    std::size_t request_pairs = 0;
  };

  // Both are called in the loop: `told` when somebody was answered, `flushed` when answers that
  // had to wait were tried again.
  ZmqService(boost::asio::io_context& loop, std::unique_ptr<Socket> socket, Limits limits,
             RequestHandler& handler, std::function<void(const Task&)> told,
             std::function<void()> flushed);
  ~ZmqService();
  ZmqService(const ZmqService&) = delete;
  ZmqService& operator=(const ZmqService&) = delete;
  ZmqService(ZmqService&&) = delete;
  ZmqService& operator=(ZmqService&&) = delete;

  [[nodiscard]] const std::vector<std::string>& endpoints() const { return socket_->endpoints(); }

  // From now on requests are read.
  void start();
  // Reads some that have arrived already.
  void read_now(std::size_t messages, std::size_t bytes) { socket_->read_now(messages, bytes); }
  // Whether answers wait for clients that had no room for them.
  [[nodiscard]] bool has_unsent() const { return !outbox_.is_empty(); }
  // Gives up what is unsent.
  void give_up() { outbox_.give_up(); }
  // True if so much is unread that peers who do not read should be cut off.
  [[nodiscard]] bool is_crowded() const { return outbox_.is_crowded(); }
  void forget_idle() { outbox_.forget_idle(); }
  void close(int linger_milliseconds) { socket_->close(linger_milliseconds); }

  [[nodiscard]] std::uint64_t requests() const { return requests_; }
  [[nodiscard]] std::uint64_t bad_requests() const { return bad_requests_; }
  [[nodiscard]] std::uint64_t answers() const { return outbox_.sent(); }
  [[nodiscard]] std::uint64_t lost_answers() const { return outbox_.lost(); }

 private:
  class Client;

  void take(Frames& frames);
  void refuse(const Task& task);
  void answer(const Task& task);
  void flush_later();

  std::unique_ptr<Socket> socket_;
  Outbox outbox_;
  const Limits limits_;
  RequestHandler& handler_;
  const std::function<void(const Task&)> told_;
  const std::function<void()> flushed_;
  boost::asio::steady_timer flusher_;
  bool flushes_later_ = false;
  Decoder decoder_;
  std::vector<std::string_view> frame_views_;
  Mailbox<std::shared_ptr<Task>> done_;
  std::thread::id loop_thread_;
  std::uint64_t requests_ = 0;
  std::uint64_t bad_requests_ = 0;
};

}  // namespace phsic
