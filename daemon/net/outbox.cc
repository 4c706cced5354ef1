#include "daemon/net/outbox.h"

#include <algorithm>
#include <array>
#include <span>

namespace phsic {
namespace {

constexpr std::size_t kMostBytes = 16U << 20U;  // kept for one client
constexpr std::size_t kMostOfAll = 128U << 20U;
constexpr std::size_t kMostShort = 64U << 20U;  // of the short answers of all
constexpr std::size_t kCrowded = 32U << 20U;

}  // namespace

Socket::Sent Outbox::post(const std::string& client, Answer& answer) {
  const std::array<std::string_view, 2> envelope = {client, ""};
  const auto sent =
      socket_.send(std::span(envelope).first(answer.has_delimiter ? 2 : 1), answer.text);
  if (sent == Socket::Sent::kYes) ++sent_;
  if (sent == Socket::Sent::kNobody) ++lost_;
  return sent;
}

// The share that has room for an answer of so many bytes; null: neither has.
std::shared_ptr<Unsent> Outbox::share_for(const std::string& client, std::size_t size) {
  auto& own = unsent_[client];
  if (own.few == nullptr) own = {std::make_shared<Unsent>(few_), std::make_shared<Unsent>(rest_)};
  if (own.few->bytes() + size <= kShort && few_->bytes() + size <= kMostShort) return own.few;
  // With this answer, a client's unread bytes must not exceed what is still free for all, as in
  // fair_queue.h. Only a client's first unread answer may be larger than kMostBytes.
  const auto unread = own.rest->bytes();
  const auto all = rest_->bytes();
  const auto free = kMostOfAll - std::min(all, kMostOfAll);
  const bool is_within_own = unread == 0 || unread + size <= kMostBytes;
  const bool has_room = all == 0 || (is_within_own && unread + 2 * size <= free);
  return has_room ? own.rest : nullptr;
}

bool Outbox::send(const std::string& client, bool has_delimiter, std::string text) {
  const auto share = share_for(client, text.size());
  if (share == nullptr) return false;
  Answer answer{counted_message(std::move(text), share), has_delimiter};
  const auto found = waiting_.find(client);
  if (found != waiting_.end()) {
    found->second.push_back(std::move(answer));
  } else if (post(client, answer) == Socket::Sent::kNotNow) {
    waiting_[client].push_back(std::move(answer));
  }
  return true;
}

void Outbox::give_up() {
  for (const auto& [client, answers] : waiting_) lost_ += answers.size();
  waiting_.clear();
}

void Outbox::flush() {
  for (auto it = waiting_.begin(); it != waiting_.end();) {
    auto& [client, answers] = *it;
    while (!answers.empty()) {
      const auto sent = post(client, answers.front());
      if (sent == Socket::Sent::kNotNow) break;
      answers.pop_front();
      if (sent == Socket::Sent::kNobody) {
        // The rest is for nobody, too.
        lost_ += answers.size();
        answers.clear();
      }
    }
    it = answers.empty() ? waiting_.erase(it) : std::next(it);
  }
}

void Outbox::forget_idle() {
  std::erase_if(unsent_, [](const auto& of_client) {
    return of_client.second.few->bytes() + of_client.second.rest->bytes() == 0;
  });
}

bool Outbox::is_crowded() const { return few_->bytes() + rest_->bytes() > kCrowded; }

}  // namespace phsic
