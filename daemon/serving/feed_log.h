// The feed: a log of what was scored and what happened, numbered, with sinks that publish it.
//
// Each topic counts its messages from 1, published or not, so that a subscriber sees what it
// missed. With a state the numbers go on after a restart, and none is given twice: they are
// reserved ahead. Messages that no sink has an audience for are counted, and need not be written.
// Belongs to the loop's thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "wire/feed_writer.h"

namespace phsic {

// Brings the feed to those who have subscribed to it.
class FeedSink {
 public:
  FeedSink() = default;
  virtual ~FeedSink() = default;
  FeedSink(const FeedSink&) = delete;
  FeedSink& operator=(const FeedSink&) = delete;
  FeedSink(FeedSink&&) = delete;
  FeedSink& operator=(FeedSink&&) = delete;

  [[nodiscard]] virtual bool has_audience(const std::string& topic) const = 0;
  // JSON.
  virtual void publish(const std::string& topic, std::string message) = 0;
};

// Scored pairs on their way to the feed.
struct ScoredPairs {
  FeedMessages messages;  // one for each
  std::vector<std::uint8_t> flagged;
  std::vector<std::string> via;  // the daemons that published them before
};

class FeedLog {
 public:
  // Keeps the last number of a topic that may have been given.
  using Reserve = std::function<void(const std::string& topic, std::uint64_t last)>;

  FeedLog();

  // The sink outlives this.
  void add(FeedSink& sink) { sinks_.push_back(&sink); }

  // From now on numbers are reserved.
  void keep(Reserve reserve) { reserve_ = std::move(reserve); }
  // Continues after `last`; the next kReserved numbers are reserved.
  void go_on(const std::string& stream, const std::map<std::string, std::uint64_t>& last);
  // Forgets a stream of which nothing was published, and nothing will be.
  void forget(const std::string& stream);
  // Has all topics' numbers reserved again: what was reserved may be lost.
  void reserve_all();
  // Has exactly those numbers reserved that were given: nothing will be published any more.
  void settle();

  [[nodiscard]] bool has_audience(const std::string& topic) const;
  // Scores, and flags.
  void publish(const std::string& stream, const ScoredPairs& scored);
  // Gives numbers to so many scores and flags that nobody hears.
  void pass_over(const std::string& stream, std::uint64_t scores, std::uint64_t flags);
  void publish(const std::string& stream, const StreamEvent& event);

  // This daemon's name on the feed.
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  void publish(const std::string& topic, std::uint64_t number, std::string_view via,
               std::string_view rest);
  void reserve(const std::string& topic, std::uint64_t last);

  const std::string name_;
  std::vector<FeedSink*> sinks_;
  std::map<std::string, std::uint64_t> last_;  // number of each topic
  std::map<std::string, std::uint64_t> reserved_;
  Reserve reserve_;  // empty: there is no state
};

}  // namespace phsic
