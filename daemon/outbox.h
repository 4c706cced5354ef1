// Answers on their way to clients that read slowly.
//
// ZeroMQ keeps some messages for each client; what it has no room for waits here, in order, up to a
// number of bytes for each client. What a client does not read beyond that is lost, and so is what
// a client that is gone would have got. Belongs to the loop's thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

#include "daemon/socket.h"

namespace phsic {

class Outbox {
 public:
  explicit Outbox(Socket& socket) : socket_(socket) {}

  // `has_delimiter`: with the empty frame that a REQ socket expects.
  void send(const std::string& client, bool has_delimiter, std::string_view text);
  // Tries again what waits.
  void flush();
  [[nodiscard]] bool is_empty() const { return waiting_.empty(); }

  [[nodiscard]] std::uint64_t sent() const { return sent_; }
  [[nodiscard]] std::uint64_t lost() const { return lost_; }

 private:
  struct Letter {
    std::string text;
    bool has_delimiter = false;
  };
  struct Shelf {
    std::deque<Letter> letters;
    std::size_t bytes = 0;
  };

  [[nodiscard]] Socket::Sent post(const std::string& client, bool has_delimiter,
                                  std::string_view text);

  Socket& socket_;
  std::unordered_map<std::string, Shelf> waiting_;
  std::uint64_t sent_ = 0;
  std::uint64_t lost_ = 0;
};

}  // namespace phsic
