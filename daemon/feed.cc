#include "daemon/feed.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "daemon/topics.h"

namespace phsic {
namespace {

// More prefixes than this are not looked at one by one: everything counts as subscribed.
constexpr std::size_t kMostSubscriptions = 1000;

}  // namespace

Feed::Feed(Socket& socket, std::function<void()> audience_changed)
    : socket_(socket), audience_changed_(std::move(audience_changed)) {
  socket_.read([this](const Frames& frames) { take_subscription(frames); });
}

void Feed::keep(Reserve reserve) { reserve_ = std::move(reserve); }

void Feed::go_on(const std::string& stream, const std::map<std::string, std::uint64_t>& last) {
  for (const auto& topic : topics_of(stream)) {
    const auto found = last.find(topic);
    sequences_[topic] = found == last.end() ? 0 : found->second;
    reserved_[topic] = sequences_[topic] + kReserved;
  }
}

void Feed::reserve_all() {
  reserved_.clear();
  for (const auto& [topic, last] : sequences_) reserve(topic, last);
}

void Feed::settle() {
  if (!reserve_) return;
  for (const auto& [topic, last] : sequences_) reserve_(topic, last);
}

void Feed::reserve(const std::string& topic, std::uint64_t last) {
  if (!reserve_) return;
  auto& reserved = reserved_[topic];
  if (last + kReserved / 2 < reserved) return;
  reserved = last + kReserved;
  reserve_(topic, reserved);
}

void Feed::take_subscription(const Frames& frames) {
  const auto text = frames.front().to_string_view();
  if (text.empty()) return;
  const auto prefix = text.substr(1);
  if (text[0] == 1) {
    if (subscriptions_.size() < kMostSubscriptions) subscriptions_.emplace(prefix);
  } else if (text[0] == 0 && subscriptions_.size() < kMostSubscriptions) {
    if (const auto found = subscriptions_.find(prefix); found != subscriptions_.end()) {
      subscriptions_.erase(found);
    }
  }
  audience_changed_();
}

bool Feed::has_audience(const std::string& topic) const {
  if (subscriptions_.size() >= kMostSubscriptions) return true;
  return std::any_of(subscriptions_.begin(), subscriptions_.end(),
                     [&](const std::string& prefix) { return topic.starts_with(prefix); });
}

void Feed::publish(const std::string& topic, std::uint64_t sequence, std::string_view rest) {
  text_.clear();
  fmt::format_to(std::back_inserter(text_), "{{\"seq\":{},", sequence);
  text_.append(rest);
  const std::array<std::string_view, 2> frames = {topic, text_};
  // XPUB drops what a slow subscriber has no room for; the numbers tell it so.
  if (socket_.send(frames) == Socket::Sent::kYes) ++published_;
}

void Feed::publish_scores(const std::string& stream, const Job& job) {
  const auto score_topic = fmt::format("{}/score", stream);
  const auto flag_topic = fmt::format("{}/flag", stream);
  const bool scores = has_audience(score_topic);
  const bool flags = has_audience(flag_topic);
  auto& score_number = sequences_[score_topic];
  auto& flag_number = sequences_[flag_topic];
  // Without an audience when it was scored there is no text, even if there is one now.
  const std::string_view feed = job.feed;
  for (std::size_t i = 0; i < job.pairs.size(); ++i) {
    ++score_number;
    const bool flagged = !job.flagged.empty() && job.flagged[i];
    if (flagged) ++flag_number;
    if (i >= job.feed_ends.size()) continue;
    const auto start = i == 0 ? 0 : job.feed_ends[i - 1];
    const auto rest = feed.substr(start, job.feed_ends[i] - start);
    if (scores) publish(score_topic, score_number, rest);
    if (flags && flagged) publish(flag_topic, flag_number, rest);
  }
  reserve(score_topic, score_number);
  reserve(flag_topic, flag_number);
}

void Feed::publish_event(const std::string& stream, std::string_view event) {
  const auto topic = fmt::format("{}/event", stream);
  const auto number = ++sequences_[topic];
  reserve(topic, number);
  if (has_audience(topic)) publish(topic, number, event);
}

}  // namespace phsic
