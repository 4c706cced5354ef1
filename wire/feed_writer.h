// Messages of the feed: from scored pairs, and from what happens to a stream, to JSON.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "wire/event.h"
#include "wire/outcome.h"
#include "wire/request.h"

namespace phsic {

// The messages about all pairs of a request, one after the other: JSON without its opening brace
// and number, which come when it is published.
class FeedMessages {
 public:
  // `delay` is how long it took, in seconds; with `texts` the messages have those, too.
  FeedMessages(const Request& request, const Outcome& outcome, bool texts, double delay);

  [[nodiscard]] std::size_t size() const { return ends_.size(); }
  [[nodiscard]] std::string_view operator[](std::size_t i) const {
    const auto start = i == 0 ? 0 : ends_[i - 1];
    return std::string_view(bytes_).substr(start, ends_[i] - start);
  }

 private:
  std::string bytes_;
  std::vector<std::size_t> ends_;
};

// JSON without its opening brace.
[[nodiscard]] std::string event_json(const StreamEvent& event);

}  // namespace phsic
