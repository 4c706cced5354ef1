#include "daemon/net/feed.h"

#include <fmt/format.h>

#include <array>
#include <iterator>

#include "state/feed_numbers.h"
#include "wire/via.h"

namespace phsic {
namespace {

constexpr std::size_t kLongestNumber = 32;  // with its name

}  // namespace

Feed::Feed(Socket& socket, std::uint64_t most_bytes, std::function<void()> audience_changed)
    : socket_(socket),
      most_bytes_(most_bytes),
      name_(random_name()),
      audience_changed_(std::move(audience_changed)) {
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
    subscriptions_.emplace(prefix);
  } else if (text[0] == 0) {
    if (const auto found = subscriptions_.find(prefix); found != subscriptions_.end()) {
      subscriptions_.erase(found);
    }
  }
  audience_changed_();
}

bool Feed::has_audience(const std::string& topic) const {
  // There may be many more subscriptions than a topic has beginnings.
  for (std::size_t size = 0; size <= topic.size(); ++size) {
    if (subscriptions_.contains(std::string_view(topic).substr(0, size))) return true;
  }
  return false;
}

void Feed::publish(const std::string& topic, std::uint64_t sequence, std::string_view via,
                   std::string_view rest) {
  const auto unread = unsent_->bytes();
  if (unread > 0 && unread + rest.size() > most_bytes_) {
    ++left_out_;
    return;
  }
  std::string text;
  text.reserve(rest.size() + via.size() + kLongestNumber);
  fmt::format_to(std::back_inserter(text), "{{\"seq\":{},", sequence);
  text.append(via).append(rest);
  auto message = counted_message(std::move(text), unsent_);
  const std::array<std::string_view, 1> envelope = {topic};
  // XPUB drops what a slow subscriber has no room for; the numbers tell it so.
  if (socket_.send(envelope, message) == Socket::Sent::kYes) ++published_;
}

void Feed::publish_scores(const std::string& stream, const Job& job) {
  const auto score_topic = fmt::format("{}/score", stream);
  const auto flag_topic = fmt::format("{}/flag", stream);
  const bool scores = has_audience(score_topic);
  const bool flags = has_audience(flag_topic);
  auto& score_number = sequences_[score_topic];
  auto& flag_number = sequences_[flag_topic];
  const auto via = scores || flags ? via_member(job.via, name_) + ',' : std::string();
  // Without an audience when it was scored there is no text, even if there is one now.
  const std::string_view feed = job.feed;
  for (std::size_t i = 0; i < job.pairs.size(); ++i) {
    ++score_number;
    const bool flagged = !job.flagged.empty() && job.flagged[i];
    if (flagged) ++flag_number;
    if (i >= job.feed_ends.size()) continue;
    const auto start = i == 0 ? 0 : job.feed_ends[i - 1];
    const auto rest = feed.substr(start, job.feed_ends[i] - start);
    if (scores) publish(score_topic, score_number, via, rest);
    if (flags && flagged) publish(flag_topic, flag_number, via, rest);
  }
  reserve(score_topic, score_number);
  reserve(flag_topic, flag_number);
}

void Feed::publish_event(const std::string& stream, std::string_view event) {
  const auto topic = fmt::format("{}/event", stream);
  const auto number = ++sequences_[topic];
  reserve(topic, number);
  if (has_audience(topic)) publish(topic, number, {}, event);
}

}  // namespace phsic
