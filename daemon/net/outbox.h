// Answers on their way to clients that read slowly.
//
// ZeroMQ keeps some messages for each client; what it has no room for waits here, in order. Both
// together are bounded in bytes, for each client and for all. Answers beyond that are lost, and so
// are answers to a client that is gone.
//
// There are two shares. A few short answers of each client are kept whatever others leave unread,
// so that a client that reads always hears something. Long ones share what is left. Belongs to the
// loop's thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "daemon/net/socket.h"
#include "daemon/net/unsent.h"

namespace phsic {

class Outbox {
 public:
  explicit Outbox(Socket& socket) : socket_(socket) {}

  // An answer of more bytes is a long one, and so is one of a client that has as much unread.
  static constexpr std::size_t kShort = 16U << 10U;

  // `has_delimiter`: with the empty frame that a REQ socket expects. False: too much is unread, and
  // nothing was sent.
  [[nodiscard]] bool send(const std::string& client, bool has_delimiter, std::string text);
  // An answer could not be sent.
  void note_lost() { ++lost_; }
  // Forgets what waits.
  void give_up();
  // Tries again what waits.
  void flush();
  [[nodiscard]] bool is_empty() const { return waiting_.empty(); }

  // Forgets clients that have read everything.
  void forget_idle();
  // True if so much is unread that peers who do not read should be cut off.
  [[nodiscard]] bool is_crowded() const;

  [[nodiscard]] std::uint64_t sent() const { return sent_; }
  [[nodiscard]] std::uint64_t lost() const { return lost_; }

 private:
  struct Answer {
    zmq::message_t text;
    bool has_delimiter = false;
  };

  // What a client has not read, here and in ZeroMQ.
  struct ClientShares {
    std::shared_ptr<Unsent> few;   // of the share for short answers
    std::shared_ptr<Unsent> rest;  // of the other
  };

  [[nodiscard]] std::shared_ptr<Unsent> share_for(const std::string& client, std::size_t size);
  [[nodiscard]] Socket::Sent post(const std::string& client, Answer& answer);

  Socket& socket_;
  std::unordered_map<std::string, std::deque<Answer>> waiting_;
  std::unordered_map<std::string, ClientShares> unsent_;
  // Sums of all clients.
  std::shared_ptr<Unsent> few_ = std::make_shared<Unsent>();
  std::shared_ptr<Unsent> rest_ = std::make_shared<Unsent>();
  std::uint64_t sent_ = 0;
  std::uint64_t lost_ = 0;
};

}  // namespace phsic
