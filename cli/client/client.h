// Asks a daemon and waits for its answers.
//
// An answer is matched to its request by id; several requests may be under way. A daemon that says
// it is overloaded is asked again, after pauses that grow, for as long as an answer is waited for.
// One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "cli/client/connection.h"
#include "wire/answer_reader.h"
#include "wire/message.h"
#include "wire/request_writer.h"

namespace phsic {

// How long an answer may take.
enum class Patience : std::uint8_t {
  kShort,  // the timeout
  kLong,   // ten times as long: a model may have to be built
};

class Client {
 public:
  // Throws an Error if no daemon is there within the timeout, or within five seconds.
  Client(const std::string& endpoint, Milliseconds timeout);

  // Both throw a RefusedError for an answer with "ok": false, and an Error when the daemon hangs up
  // or does not answer in time. A request whose answer was not waited for may have been done.
  [[nodiscard]] Message ask(const RequestWriter& request, Patience patience = Patience::kShort);
  // Hands over the answer to each request as it comes, in any order: take(its number, the answer).
  void ask_all(std::span<const RequestWriter> requests, Patience patience,
               const std::function<void(std::size_t, Message)>& take);

  [[nodiscard]] const std::string& endpoint() const { return connection_.endpoint(); }
  [[nodiscard]] Milliseconds timeout() const { return timeout_; }

 private:
  struct Exchange;

  void send_some(Exchange& exchange);
  void take_answer(Exchange& exchange, std::string_view bytes);
  void wait(const Exchange& exchange);
  [[noreturn]] void hung_up(const Exchange& exchange) const;

  Connection connection_;
  Milliseconds timeout_;
  std::uint64_t next_id_ = 1;
};

}  // namespace phsic
