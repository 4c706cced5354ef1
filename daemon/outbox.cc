#include "daemon/outbox.h"

#include <array>
#include <span>

namespace phsic {
namespace {

constexpr std::size_t kMostBytes = 16U << 20U;  // kept for one client

}  // namespace

Socket::Sent Outbox::post(const std::string& client, bool has_delimiter, std::string_view text) {
  const std::array<std::string_view, 3> frames = {client, has_delimiter ? "" : text, text};
  const auto sent = socket_.send(std::span(frames).first(has_delimiter ? 3 : 2));
  if (sent == Socket::Sent::kYes) ++sent_;
  if (sent == Socket::Sent::kNobody) ++lost_;
  return sent;
}

void Outbox::send(const std::string& client, bool has_delimiter, std::string_view text) {
  const auto found = waiting_.find(client);
  if (found == waiting_.end() && post(client, has_delimiter, text) != Socket::Sent::kNotNow) return;
  auto& shelf = found == waiting_.end() ? waiting_[client] : found->second;
  if (shelf.bytes + text.size() > kMostBytes) {
    ++lost_;
    return;
  }
  shelf.bytes += text.size();
  shelf.letters.push_back({std::string(text), has_delimiter});
}

void Outbox::flush() {
  for (auto it = waiting_.begin(); it != waiting_.end();) {
    auto& [client, shelf] = *it;
    while (!shelf.letters.empty()) {
      const auto& letter = shelf.letters.front();
      const auto sent = post(client, letter.has_delimiter, letter.text);
      if (sent == Socket::Sent::kNotNow) break;
      shelf.bytes -= letter.text.size();
      shelf.letters.pop_front();
      if (sent == Socket::Sent::kNobody) {
        // The rest is for nobody, too.
        lost_ += shelf.letters.size();
        shelf.letters.clear();
      }
    }
    it = shelf.letters.empty() ? waiting_.erase(it) : std::next(it);
  }
}

}  // namespace phsic
