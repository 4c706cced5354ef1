// Messages that are counted, in bytes, until ZeroMQ lets go of them.
//
// ZeroMQ's own limits count messages. A counted message belongs to an Unsent, which may be part of
// another: a client's, and that of all clients. Counting goes on for as long as a message exists,
// in whoever's hands. Thread safe: ZeroMQ frees messages in threads of its own.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <zmq.hpp>

namespace phsic {

class Unsent {
 public:
  // What a message costs beside its bytes.
  static constexpr std::uint64_t kMessageCost = 256;

  explicit Unsent(std::shared_ptr<Unsent> whole = nullptr) : whole_(std::move(whole)) {}

  [[nodiscard]] std::uint64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }
  void add(std::uint64_t bytes);
  void remove(std::uint64_t bytes);

 private:
  std::atomic<std::uint64_t> bytes_{0};
  std::shared_ptr<Unsent> whole_;  // null: it is the whole
};

// A message of these bytes that is counted by `unsent`.
[[nodiscard]] zmq::message_t counted_message(std::string text, std::shared_ptr<Unsent> unsent);

}  // namespace phsic
