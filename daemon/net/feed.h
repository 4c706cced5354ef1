// The feed: what was scored and what happened, to whoever subscribed.
//
// Each topic counts its messages from 1, sent or not, so that a subscriber sees what it missed.
// With a state the numbers go on after a restart, and none is given twice: they are reserved ahead.
// Messages that nobody subscribed to are counted and not made. Belongs to the loop's thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "daemon/net/socket.h"
#include "daemon/net/unsent.h"
#include "daemon/serving/job.h"

namespace phsic {

class Feed {
 public:
  // Keeps the last number of a topic that may have been given.
  using Reserve = std::function<void(const std::string& topic, std::uint64_t last)>;

  // No more than `most_bytes` are published and unread. `audience_changed` is called when somebody
  // subscribed or left.
  Feed(Socket& socket, std::uint64_t most_bytes, std::function<void()> audience_changed);

  // From now on numbers are reserved.
  void keep(Reserve reserve);
  // Continues after `last`; the next kReserved numbers are reserved.
  void go_on(const std::string& stream, const std::map<std::string, std::uint64_t>& last);
  // Has all topics' numbers reserved again: what was reserved may be lost.
  void reserve_all();
  // Has exactly those reserved that were given: nothing will be published any more.
  void settle();

  [[nodiscard]] bool has_audience(const std::string& topic) const;
  // The scores of a job, and its flags.
  void publish_scores(const std::string& stream, const Job& job);
  // JSON without its opening brace.
  void publish_event(const std::string& stream, std::string_view event);

  [[nodiscard]] std::uint64_t published() const { return published_; }
  // Messages that were left out because too much was unread.
  [[nodiscard]] std::uint64_t left_out() const { return left_out_; }
  // Whether so much is unread that those who do not read should be got rid of.
  [[nodiscard]] bool is_crowded() const { return unsent_->bytes() > most_bytes_ / 2; }
  // This daemon's name on the feed.
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  void take_subscription(const Frames& frames);
  void publish(const std::string& topic, std::uint64_t sequence, std::string_view via,
               std::string_view rest);
  void reserve(const std::string& topic, std::uint64_t last);

  Socket& socket_;
  const std::uint64_t most_bytes_;
  const std::string name_;
  std::function<void()> audience_changed_;
  std::shared_ptr<Unsent> unsent_ = std::make_shared<Unsent>();
  std::set<std::string, std::less<>> subscriptions_;  // prefixes
  std::map<std::string, std::uint64_t> sequences_;    // the last number of each topic
  std::map<std::string, std::uint64_t> reserved_;
  Reserve reserve_;  // empty: there is no state
  std::uint64_t published_ = 0;
  std::uint64_t left_out_ = 0;
};

}  // namespace phsic
