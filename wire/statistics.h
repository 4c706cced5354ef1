// What streams and the daemon tell of themselves: each number with its name, unit and meaning.
//
// `stats` renders them as JSON. One table for each kind of thing says everything of its numbers, so
// that what is added there is in every rendering.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace phsic {

struct PublishedModel;

enum class Unit : std::uint8_t { kNone, kBytes, kSeconds, kPairs, kMessages, kRequests };

// How long something took.
struct Quantiles {
  double p50 = 0;
  double p90 = 0;
  double p99 = 0;
  double max = 0;
};

// Counts of the same thing, told apart by a label: {"cut": 12, "duplicate": 3}.
struct LabelledCounts {
  std::string_view label;  // what tells them apart: "reason"
  std::map<std::string, std::uint64_t> counts;
};

// Numbers of the same kind, told apart likewise: {"hashing": 0.6, "wordvec": 0.4}.
struct LabelledNumbers {
  std::string_view label;
  std::map<std::string, double> numbers;
};

struct Statistic {
  using Value = std::variant<std::uint64_t, double, bool, std::string, Quantiles, LabelledCounts,
                             LabelledNumbers>;

  // A counter never goes down while the thing it counts lives; a gauge may.
  enum class Kind : std::uint8_t { kCounter, kGauge };

  std::string_view name;
  Kind kind = Kind::kGauge;
  Unit unit = Unit::kNone;
  std::string_view help;
  Value value;
};
using Statistics = std::vector<Statistic>;

// What a model knows of itself. What is not known is left out.
[[nodiscard]] Statistics model_statistics(const PublishedModel& published);

struct StreamStatistics {
  std::uint64_t pairs = 0;  // learned
  std::uint64_t refused = 0;
  std::uint64_t unlearned = 0;
  std::uint64_t unlearned_bytes = 0;
  std::uint64_t scored = 0;
  std::uint64_t ranked = 0;
  struct Decisions {
    std::uint64_t kept = 0;
    std::uint64_t dropped = 0;
    std::uint64_t undecided = 0;
    std::uint64_t not_learned = 0;
    std::map<std::string, std::uint64_t> reasons;  // by name
  } decisions;
  std::uint64_t problems = 0;
  std::uint64_t refreshes = 0;
  std::uint64_t drifts = 0;
  double drift_p_value = 1;
  std::uint64_t queue = 0;
  std::uint64_t queue_bytes = 0;
  std::uint64_t overloaded = 0;
  std::uint64_t failed = 0;
  std::uint64_t duplicates = 0;
  std::uint64_t clipped = 0;
  std::uint64_t ahead = 0;
  // With a state.
  struct Kept {
    bool is_keeping = true;
    std::uint64_t snapshots = 0;
    std::uint64_t recovered = 0;
    std::uint64_t lost = 0;
  };
  std::optional<Kept> kept;
  std::shared_ptr<const PublishedModel> published;
  Quantiles latency;

  [[nodiscard]] Statistics list() const;
};

struct DaemonStatistics {
  std::string version;
  std::uint64_t pid = 0;
  double uptime = 0;
  std::uint64_t memory = 0;
  std::uint64_t requests = 0;
  std::uint64_t replies = 0;
  std::uint64_t bad_requests = 0;
  std::uint64_t lost_replies = 0;
  std::uint64_t messages = 0;
  std::uint64_t bad_messages = 0;
  std::uint64_t passed_over = 0;
  std::uint64_t stalled = 0;
  std::uint64_t published = 0;
  std::uint64_t left_out = 0;
  std::uint64_t closed = 0;
  std::uint64_t reloads = 0;
  std::uint64_t refused_reloads = 0;

  [[nodiscard]] Statistics list() const;
};

// The state file of a daemon.
struct StateStatistics {
  std::string file;
  bool is_keeping = true;
  std::uint64_t commits = 0;
  std::uint64_t bytes = 0;
  std::uint64_t failures = 0;
  std::uint64_t log_bytes = 0;
  std::string problem;  // empty: none

  [[nodiscard]] Statistics list() const;
};

// As members of an object: "pairs":512,"refused":0
void append_statistics(const Statistics& statistics, std::string& out);

// The unit of the statistic of that name, in whichever table; kNone if there is none.
[[nodiscard]] Unit unit_of_statistic(std::string_view name);

}  // namespace phsic
