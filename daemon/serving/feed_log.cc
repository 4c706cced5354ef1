#include "daemon/serving/feed_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "state/feed_numbers.h"
#include "wire/via.h"

namespace phsic {
namespace {

constexpr std::size_t kLongestNumber = 32;  // with its name

}  // namespace

FeedLog::FeedLog() : name_(random_name()) {}

void FeedLog::go_on(const std::string& stream, const std::map<std::string, std::uint64_t>& last) {
  for (const auto& topic : topics_of(stream)) {
    const auto found = last.find(topic);
    last_[topic] = found == last.end() ? 0 : found->second;
    reserved_[topic] = last_[topic] + kReserved;
  }
}

void FeedLog::forget(const std::string& stream) {
  for (const auto& topic : topics_of(stream)) {
    last_.erase(topic);
    reserved_.erase(topic);
  }
}

void FeedLog::reserve_all() {
  reserved_.clear();
  for (const auto& [topic, last] : last_) reserve(topic, last);
}

void FeedLog::settle() {
  if (!reserve_) return;
  for (const auto& [topic, last] : last_) reserve_(topic, last);
}

void FeedLog::reserve(const std::string& topic, std::uint64_t last) {
  if (!reserve_) return;
  auto& reserved = reserved_[topic];
  if (last + kReserved / 2 < reserved) return;
  reserved = last + kReserved;
  reserve_(topic, reserved);
}

bool FeedLog::has_audience(const std::string& topic) const {
  return std::any_of(sinks_.begin(), sinks_.end(),
                     [&](const FeedSink* sink) { return sink->has_audience(topic); });
}

void FeedLog::publish(const std::string& topic, std::uint64_t number, std::string_view via,
                      std::string_view rest) {
  std::string message;
  message.reserve(rest.size() + via.size() + kLongestNumber);
  fmt::format_to(std::back_inserter(message), "{{\"seq\":{},", number);
  message.append(via).append(rest);
  for (std::size_t i = 0; i + 1 < sinks_.size(); ++i) sinks_[i]->publish(topic, message);
  if (!sinks_.empty()) sinks_.back()->publish(topic, std::move(message));
}

void FeedLog::publish(const std::string& stream, const ScoredPairs& scored) {
  const auto score_topic = fmt::format("{}/score", stream);
  const auto flag_topic = fmt::format("{}/flag", stream);
  const bool scores = has_audience(score_topic);
  const bool flags = has_audience(flag_topic);
  auto& score_number = last_[score_topic];
  auto& flag_number = last_[flag_topic];
  const auto via = scores || flags ? via_member(scored.via, name_) + ',' : std::string();
  for (std::size_t i = 0; i < scored.messages.size(); ++i) {
    ++score_number;
    const bool is_flagged = i < scored.flagged.size() && scored.flagged[i] != 0;
    if (is_flagged) ++flag_number;
    const auto rest = scored.messages[i];
    if (scores) publish(score_topic, score_number, via, rest);
    if (flags && is_flagged) publish(flag_topic, flag_number, via, rest);
  }
  reserve(score_topic, score_number);
  reserve(flag_topic, flag_number);
}

void FeedLog::pass_over(const std::string& stream, std::uint64_t scores, std::uint64_t flags) {
  const auto pass = [this](const std::string& topic, std::uint64_t count) {
    auto& last = last_[topic];
    last += count;
    reserve(topic, last);
  };
  pass(fmt::format("{}/score", stream), scores);
  pass(fmt::format("{}/flag", stream), flags);
}

void FeedLog::publish(const std::string& stream, const StreamEvent& event) {
  const auto topic = fmt::format("{}/event", stream);
  const auto number = ++last_[topic];
  reserve(topic, number);
  if (has_audience(topic)) publish(topic, number, {}, event_json(event));
}

}  // namespace phsic
