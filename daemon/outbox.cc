#include "daemon/outbox.h"

#include <algorithm>
#include <array>
#include <span>

namespace phsic {
namespace {

constexpr std::size_t kMostBytes = 16U << 20U;  // kept for one client
constexpr std::size_t kMostOfAll = 128U << 20U;
constexpr std::size_t kCrowded = 32U << 20U;

}  // namespace

Socket::Sent Outbox::post(const std::string& client, Letter& letter) {
  const std::array<std::string_view, 2> envelope = {client, ""};
  const auto sent =
      socket_.send(std::span(envelope).first(letter.has_delimiter ? 2 : 1), letter.text);
  if (sent == Socket::Sent::kYes) ++sent_;
  if (sent == Socket::Sent::kNobody) ++lost_;
  return sent;
}

const std::shared_ptr<Unsent>& Outbox::unsent_of(const std::string& client) {
  auto& unsent = unsent_[client];
  if (unsent == nullptr) unsent = std::make_shared<Unsent>(whole_);
  return unsent;
}

void Outbox::send(const std::string& client, bool has_delimiter, std::string text) {
  const auto& unsent = unsent_of(client);
  const auto own = unsent->bytes();
  const auto whole = whole_->bytes();
  // Afterwards a client must have no more than is still free, as in fair_queue.h: those who read
  // nothing never take all of it, whatever they ask for. A single answer may be larger than what is
  // kept of several.
  const auto free = kMostOfAll - std::min(whole, kMostOfAll);
  const bool is_within_own = own == 0 || own + text.size() <= kMostBytes;
  if (whole > 0 && !(is_within_own && own + 2 * text.size() <= free)) {
    ++lost_;
    return;
  }
  Letter letter{counted_message(std::move(text), unsent), has_delimiter};
  const auto found = waiting_.find(client);
  if (found != waiting_.end()) {
    found->second.push_back(std::move(letter));
  } else if (post(client, letter) == Socket::Sent::kNotNow) {
    waiting_[client].push_back(std::move(letter));
  }
}

void Outbox::give_up() {
  for (const auto& [client, shelf] : waiting_) lost_ += shelf.size();
  waiting_.clear();
}

void Outbox::flush() {
  for (auto it = waiting_.begin(); it != waiting_.end();) {
    auto& [client, shelf] = *it;
    while (!shelf.empty()) {
      const auto sent = post(client, shelf.front());
      if (sent == Socket::Sent::kNotNow) break;
      shelf.pop_front();
      if (sent == Socket::Sent::kNobody) {
        // The rest is for nobody, too.
        lost_ += shelf.size();
        shelf.clear();
      }
    }
    it = shelf.empty() ? waiting_.erase(it) : std::next(it);
  }
}

void Outbox::forget_idle() {
  std::erase_if(unsent_, [](const auto& of_client) { return of_client.second->bytes() == 0; });
}

bool Outbox::is_crowded() const { return whole_->bytes() > kCrowded; }

}  // namespace phsic
