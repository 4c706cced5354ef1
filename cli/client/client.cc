#include "cli/client/client.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <optional>

#include "core/error.h"

namespace phsic {
namespace {

using Clock = std::chrono::steady_clock;

// Who starts daemon and client together should not have to sleep in between.
constexpr Milliseconds kConnecting{5000};
// Enough to keep a daemon busy while answers are on their way.
constexpr std::size_t kUnderWay = 4;
constexpr int kLongFactor = 10;
constexpr Milliseconds kFirstPause{10};
constexpr Milliseconds kLongestPause{1000};

}  // namespace

// Some requests and what has become of them.
struct Client::Exchange {
  struct Waiting {
    std::size_t number = 0;
    Clock::time_point not_before;
  };

  std::span<const RequestWriter> requests;
  const std::function<void(std::size_t, Message)>& take;
  Milliseconds patience;
  std::deque<Waiting> waiting;                     // to be sent
  std::map<std::uint64_t, std::size_t> under_way;  // the request of each id
  Clock::time_point deadline;                      // of the next answer
  Milliseconds pause = kFirstPause;                // after the next refusal
};

Client::Client(const std::string& endpoint, Milliseconds timeout)
    : connection_(zmq::socket_type::dealer, endpoint, "service"), timeout_(timeout) {
  connection_.await_daemon(std::min(timeout, kConnecting));
}

Message Client::ask(const RequestWriter& request, Patience patience) {
  std::optional<Message> answer;
  ask_all({&request, 1}, patience,
          [&](std::size_t /*number*/, Message message) { answer.emplace(std::move(message)); });
  return std::move(answer).value();
}

void Client::ask_all(std::span<const RequestWriter> requests, Patience patience,
                     const std::function<void(std::size_t, Message)>& take) {
  Exchange exchange{requests, take, timeout_ * (patience == Patience::kLong ? kLongFactor : 1),
                    {},       {},   {}};
  const auto now = Clock::now();
  exchange.deadline = now + exchange.patience;
  for (std::size_t i = 0; i < requests.size(); ++i) exchange.waiting.push_back({i, now});
  while (!exchange.waiting.empty() || !exchange.under_way.empty()) {
    // Before the answers are looked at, so that none is overlooked that came before the end.
    const bool lost = connection_.was_lost();
    while (const auto frames = connection_.receive()) take_answer(exchange, frames->back());
    if (exchange.waiting.empty() && exchange.under_way.empty()) return;
    if (lost) hung_up(exchange);
    if (Clock::now() >= exchange.deadline) {
      throw Error(
          fmt::format("{}: no answer within {:g} seconds; is the daemon busy? --timeout "
                      "SECONDS waits longer",
                      endpoint(), std::chrono::duration<double>(exchange.patience).count()));
    }
    send_some(exchange);
    wait(exchange);
  }
}

void Client::hung_up(const Exchange& exchange) const {
  std::size_t largest = 0;
  for (const auto& [id, number] : exchange.under_way) {
    largest = std::max(largest, exchange.requests[number].json(id).size());
  }
  throw Error(fmt::format("{}: the daemon hung up{}", endpoint(),
                          largest == 0
                              ? std::string()
                              : fmt::format(" before it answered; it ended, or a request of {} "
                                            "bytes is more than its message-bytes",
                                            largest)));
}

void Client::send_some(Exchange& exchange) {
  auto& waiting = exchange.waiting;
  while (!waiting.empty() && exchange.under_way.size() < kUnderWay &&
         waiting.front().not_before <= Clock::now()) {
    const auto number = waiting.front().number;
    const auto id = next_id_;
    if (!connection_.send(exchange.requests[number].json(id))) return;
    ++next_id_;
    exchange.under_way.emplace(id, number);
    waiting.pop_front();
  }
}

void Client::take_answer(Exchange& exchange, std::string_view bytes) {
  std::optional<Message> message;
  std::optional<RefusedError> refused;
  std::optional<std::uint64_t> id;
  try {
    message.emplace(bytes);
    refused = refusal(message->root(), endpoint());
    id = message->root().find_count("id");
  } catch (const Error& problem) {
    throw Error(fmt::format("{}: the answer cannot be read: {}", endpoint(), problem.what()));
  }
  // A request that the daemon could not make out is answered without its id.
  if (!id && refused) throw RefusedError(*refused);
  const auto found = id ? exchange.under_way.find(*id) : exchange.under_way.end();
  if (found == exchange.under_way.end()) return;  // given up on earlier
  const auto number = found->second;
  exchange.under_way.erase(found);
  const auto now = Clock::now();
  if (refused) {
    const bool is_worth_another_try =
        refused->code() == "overloaded" && now + exchange.pause < exchange.deadline;
    if (!is_worth_another_try) throw RefusedError(*refused);
    exchange.waiting.push_front({number, now + exchange.pause});
    exchange.pause = std::min(2 * exchange.pause, kLongestPause);
    return;
  }
  exchange.pause = kFirstPause;
  exchange.deadline = now + exchange.patience;
  exchange.take(number, std::move(*message));
}

void Client::wait(const Exchange& exchange) {
  auto until = exchange.deadline;
  const auto& waiting = exchange.waiting;
  const bool may_send = !waiting.empty() && exchange.under_way.size() < kUnderWay;
  if (may_send) until = std::min(until, waiting.front().not_before);
  const auto left = std::chrono::ceil<Milliseconds>(until - Clock::now());
  if (left.count() > 0) {
    connection_.wait_to_receive(left);
  } else if (may_send) {
    connection_.wait_to_send(kFirstPause);  // the queue is full
  }
}

}  // namespace phsic
