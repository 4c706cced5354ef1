#include "daemon/registry.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <tuple>
#include <utility>

#include "daemon/log.h"
#include "wire/json_text.h"

namespace phsic {

ServedStream::ServedStream(boost::asio::io_context& loop, const StreamSettings& settings,
                           PreparedStream prepared, FeedLog& feed, std::function<void()> closed)
    : feed_(feed),
      scored_(loop,
              [this, name = settings.name](ScoredPairs& pairs) {
                try {
                  tell_unheard();  // they came before, and so do their numbers
                  feed_.publish(name, pairs);
                } catch (const std::bad_alloc&) {
                  log(LogLevel::kError, "no memory for the feed", {{"stream", name}});
                }
              }),
      events_(loop,
              [this, name = settings.name](StreamEvent& event) {
                try {
                  tell(event);
                } catch (const std::bad_alloc&) {
                  log(LogLevel::kError, "no memory to tell of an event", {{"stream", name}});
                }
              }),
      closed_(loop,
              [this, closed = std::move(closed)](Closed&) {
                tell_unheard();
                closed();
              }),
      feed_texts_(settings.feed_texts),
      lane_(std::make_unique<Lane>(settings, std::move(prepared.opened.stream),
                                   std::move(prepared.opened.recovery), std::move(prepared.journal),
                                   *this)) {}

void ServedStream::update(LaneUpdate update) noexcept {
  feed_texts_ = update.settings.feed_texts;
  lane_->update(std::move(update));
}

void ServedStream::look_for_audience() {
  feeds_scores_ = feed_.has_audience(fmt::format("{}/score", lane_->name()));
  feeds_flags_ = feed_.has_audience(fmt::format("{}/flag", lane_->name()));
}

void ServedStream::tell_overload() {
  const auto overloaded = lane_->overloaded();
  const auto more = overloaded - std::exchange(overloaded_told_, overloaded);
  if (more == 0) return;
  feed_.publish(lane_->name(), OverloadEvent{more});
  log(LogLevel::kWarning, "overload", {{"stream", lane_->name()}, {"overloaded", more}});
}

void ServedStream::tell_unheard() {
  const auto scores = unheard_scores_.exchange(0);
  const auto flags = unheard_flags_.exchange(0);
  if (scores > 0 || flags > 0) feed_.pass_over(lane_->name(), scores, flags);
}

void ServedStream::note_answer(const Task& task) {
  const auto now = Clock::now();
  latency_.add(now - task.arrived, now);
}

StreamStatistics ServedStream::statistics() {
  auto statistics = lane_->statistics();
  const auto now = Clock::now();
  statistics.latency = {latency_.quantile(0.5, now), latency_.quantile(0.9, now),
                        latency_.quantile(0.99, now), latency_.longest(now)};
  return statistics;
}

void ServedStream::scored(const Task& task) {
  const auto& request = task.request;
  const auto& verdicts = task.outcome.verdict;
  constexpr auto kDrop = static_cast<std::uint8_t>(Verdict::kDrop);
  if (!feeds_scores_ && !feeds_flags_) {
    // Numbers are all that the feed needs of them: the loop is not woken for that.
    unheard_scores_ += request.pairs.size();
    unheard_flags_ +=
        static_cast<std::uint64_t>(std::count(verdicts.begin(), verdicts.end(), kDrop));
    return;
  }
  auto flagged = verdicts;
  for (auto& is_flagged : flagged) is_flagged = is_flagged == kDrop ? 1 : 0;
  const auto delay = std::chrono::duration<double>(Clock::now() - task.arrived).count();
  scored_.put(
      {FeedMessages(request, task.outcome, feed_texts_, delay), std::move(flagged), request.via});
}

void ServedStream::happened(StreamEvent event) { events_.put(std::move(event)); }

void ServedStream::closed() { closed_.put({}); }

void ServedStream::tell(const StreamEvent& event) {
  feed_.publish(lane_->name(), event);
  log(LogLevel::kInfo, "event",
      {{"stream", lane_->name()}, LogField::json("what", fmt::format("{{{}", event_json(event)))});
}

void Registry::start(const StreamSettings& settings, PreparedStream prepared, Streams& started) {
  const bool is_kept = prepared.journal != nullptr;
  const auto feed = std::move(prepared.feed);
  const auto closed = [this] {
    ++closed_count_;
    if (closed_) closed_();
  };
  started.emplace(std::piecewise_construct, std::forward_as_tuple(settings.name),
                  std::forward_as_tuple(std::ref(loop_), settings, std::move(prepared),
                                        std::ref(feed_), closed));
  // What the lane tells is published by the loop: after this.
  if (is_kept) feed_.go_on(settings.name, feed);
}

void Registry::drop(Streams& started) {
  while (!started.empty()) {
    const auto dropped = started.extract(started.begin());
    feed_.forget(dropped.key());
  }
}

ServedStream& Registry::find(const std::string& name) {
  if (name.empty() && streams_.size() == 1) return streams_.begin()->second;
  if (const auto found = streams_.find(name); found != streams_.end()) return found->second;
  std::string names;
  for (const auto& [known, stream] : streams_) names += (names.empty() ? "" : ", ") + known;
  throw RequestError("unknown_stream",
                     name.empty() ? fmt::format("no stream is named, expected one of {}", names)
                                  : fmt::format("there is no stream {}, expected one of {}",
                                                quoted_json(name), names));
}

void Registry::close(std::function<void()> closed) {
  closed_ = std::move(closed);
  for (auto& [name, stream] : streams_) stream.lane().close();
}

}  // namespace phsic
