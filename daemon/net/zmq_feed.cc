#include "daemon/net/zmq_feed.h"

#include <array>
#include <utility>

namespace phsic {

ZmqFeed::ZmqFeed(Socket& socket, std::uint64_t most_bytes, std::function<void()> audience_changed)
    : socket_(socket), most_bytes_(most_bytes), audience_changed_(std::move(audience_changed)) {
  socket_.read([this](const Frames& frames) { take_subscription(frames); });
}

void ZmqFeed::take_subscription(const Frames& frames) {
  const auto text = frames.front().to_string_view();
  if (text.empty()) return;
  const auto prefix = text.substr(1);
  if (text[0] == 1) {
    subscriptions_.emplace(prefix);
  } else if (text[0] == 0) {
    if (const auto found = subscriptions_.find(prefix); found != subscriptions_.end()) {
      subscriptions_.erase(found);
    }
  }
  audience_changed_();
}

bool ZmqFeed::has_audience(const std::string& topic) const {
  // There may be many more subscriptions than a topic has beginnings.
  for (std::size_t size = 0; size <= topic.size(); ++size) {
    if (subscriptions_.contains(std::string_view(topic).substr(0, size))) return true;
  }
  return false;
}

void ZmqFeed::publish(const std::string& topic, std::string message) {
  const auto unread = unsent_->bytes();
  if (unread > 0 && unread + message.size() > most_bytes_) {
    ++left_out_;
    return;
  }
  auto counted = counted_message(std::move(message), unsent_);
  const std::array<std::string_view, 1> envelope = {topic};
  // XPUB drops what a slow subscriber has no room for; the numbers tell it so.
  if (socket_.send(envelope, counted) == Socket::Sent::kYes) ++published_;
}

}  // namespace phsic
