// Messages of a daemon's feed: which are wanted, which were lost, and how they look.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wire/message.h"

namespace phsic {

struct FeedFilter {
  std::vector<std::string> topics;  // "score", "flag", "event"; empty: all
  // A message with another percentile, p-value or score, or none, is not wanted. Events have none
  // of them and are.
  std::optional<double> min_percentile;
  std::optional<double> max_percentile;
  std::optional<double> below;
  std::optional<double> above;
  std::optional<double> max_p;
  std::optional<double> min_p;

  [[nodiscard]] bool wants_topic(std::string_view topic) const;
  [[nodiscard]] bool wants(std::string_view topic, const JsonObject& message) const;
};

// Finds gaps in the numbers of each topic's messages.
class GapFinder {
 public:
  // What happened before this message, for a reader; empty if nothing did.
  [[nodiscard]] std::string look(std::string_view topic, const JsonObject& message);
  [[nodiscard]] std::uint64_t lost() const { return lost_; }

 private:
  std::map<std::string, std::uint64_t, std::less<>> last_;
  std::uint64_t lost_ = 0;
};

// Whether a reader can tell which pair it is about: it has an id or texts, or is about no pair.
[[nodiscard]] bool names_its_pair(std::string_view topic, const JsonObject& message);

// A line for a reader, without its end.
[[nodiscard]] std::string describe_feed(std::string_view topic, const JsonObject& message);

}  // namespace phsic
