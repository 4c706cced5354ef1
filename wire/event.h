// What happens to a stream, for the feed and the log.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>

namespace phsic {

struct PublishedModel;

// A new model is in use.
struct RefreshEvent {
  std::shared_ptr<const PublishedModel> published;
  std::uint64_t pairs = 0;  // learned so far
};
// New pairs do not score as those did that the model was calibrated with.
struct DriftEvent {
  double p_value = 1;
  std::uint64_t pairs = 0;  // since the model came into use
  std::uint64_t model = 0;
  std::uint64_t epoch = 0;
};
struct FailureEvent {
  std::string message;
};
// Requests were refused.
struct OverloadEvent {
  std::uint64_t requests = 0;
};
// What is learned is kept, or not.
struct StateEvent {
  bool is_keeping = true;
  std::optional<std::uint64_t> log_bytes;  // that wait in SQLite's log
  std::string message;
};

using StreamEvent = std::variant<RefreshEvent, DriftEvent, FailureEvent, OverloadEvent, StateEvent>;

}  // namespace phsic
