// The streams that a daemon serves, by name.
//
// For the loop's thread, but for what lanes tell.
#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "daemon/mailbox.h"
#include "daemon/serving/feed_log.h"
#include "daemon/serving/lane.h"
#include "daemon/serving/latency.h"
#include "daemon/stream_opener.h"

namespace phsic {

// A stream at work. Hears its lane, and brings what it hears to the feed and the log.
class ServedStream : public LaneListener {
 public:
  // `closed` is called in the loop when the lane has ended. The feed outlives this.
  ServedStream(boost::asio::io_context& loop, const StreamSettings& settings,
               PreparedStream prepared, FeedLog& feed, std::function<void()> closed);

  [[nodiscard]] Lane& lane() { return *lane_; }
  [[nodiscard]] const Lane& lane() const { return *lane_; }

  void update(LaneUpdate update) noexcept;
  // Somebody subscribed to the feed, or left.
  void look_for_audience();
  // Tells the feed and the log of requests that were refused since it was told last.
  void tell_overload();
  // Tells the feed how many pairs were scored while it had no audience. Once a second, so that
  // their numbers are reserved in time.
  void tell_unheard();
  // A request was answered.
  void note_answer(const Task& task);
  // The lane's statistics, with the latency of its answers.
  [[nodiscard]] StreamStatistics statistics();

  void scored(const Task& task) override;
  void happened(StreamEvent event) override;
  void closed() override;

 private:
  using Clock = std::chrono::steady_clock;
  struct Closed {};

  void tell(const StreamEvent& event);

  FeedLog& feed_;
  Mailbox<ScoredPairs> scored_;
  Mailbox<StreamEvent> events_;
  Mailbox<Closed> closed_;
  std::atomic<bool> feeds_scores_{false};
  std::atomic<bool> feeds_flags_{false};
  std::atomic<bool> feed_texts_;
  // Scored while the feed had no audience, and not told to it yet.
  std::atomic<std::uint64_t> unheard_scores_{0};
  std::atomic<std::uint64_t> unheard_flags_{0};
  Latency latency_;
  std::uint64_t overloaded_told_ = 0;
  std::unique_ptr<Lane> lane_;  // last: its threads end before what they tell
};

class Registry {
 public:
  using Streams = std::map<std::string, ServedStream>;

  Registry(boost::asio::io_context& loop, FeedLog& feed) : loop_(loop), feed_(feed) {}

  // Starts a stream beside others that were started. It is served when it is added; `started` must
  // be added or dropped.
  void start(const StreamSettings& settings, PreparedStream prepared, Streams& started);
  // Takes over all streams that were started.
  void add(Streams& started) noexcept { streams_.merge(started); }
  // Ends those that were started.
  void drop(Streams& started);
  // The stream of that name; an empty name means the only stream. Throws a RequestError that lists
  // all streams.
  [[nodiscard]] ServedStream& find(const std::string& name);
  [[nodiscard]] Streams& all() { return streams_; }

  // Accepts nothing more, and calls `closed` when everything that was accepted is done.
  void close(std::function<void()> closed);
  [[nodiscard]] bool is_closed() const { return closed_count_ == streams_.size(); }
  // Waits for the streams' threads.
  void clear() { streams_.clear(); }

 private:
  boost::asio::io_context& loop_;
  FeedLog& feed_;
  std::size_t closed_count_ = 0;
  std::function<void()> closed_;
  Streams streams_;
};

}  // namespace phsic
