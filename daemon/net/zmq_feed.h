// The feed over ZeroMQ: an XPUB socket. Belongs to the loop's thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "daemon/net/socket.h"
#include "daemon/net/unsent.h"
#include "daemon/serving/feed_log.h"

namespace phsic {

class ZmqFeed : public FeedSink {
 public:
  // No more than `most_bytes` are published and unread. `audience_changed` is called when somebody
  // subscribed or left.
  ZmqFeed(Socket& socket, std::uint64_t most_bytes, std::function<void()> audience_changed);

  [[nodiscard]] bool has_audience(const std::string& topic) const override;
  void publish(const std::string& topic, std::string message) override;

  [[nodiscard]] std::uint64_t published() const { return published_; }
  // Messages that were left out because too much was unread.
  [[nodiscard]] std::uint64_t left_out() const { return left_out_; }
  // True if so much is unread that peers who do not read should be cut off.
  [[nodiscard]] bool is_crowded() const { return unsent_->bytes() > most_bytes_ / 2; }

 private:
  void take_subscription(const Frames& frames);

  Socket& socket_;
  const std::uint64_t most_bytes_;
  std::function<void()> audience_changed_;
  std::shared_ptr<Unsent> unsent_ = std::make_shared<Unsent>();
  std::set<std::string, std::less<>> subscriptions_;  // prefixes
  std::uint64_t published_ = 0;
  std::uint64_t left_out_ = 0;
};

}  // namespace phsic
