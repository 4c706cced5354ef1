// What a daemon tells of itself when it is asked; it answers at once.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "wire/statistics.h"

namespace phsic {

// To `ping`.
struct PingFacts {
  // How far the start is.
  struct Starting {
    std::string doing;
    std::string stream;  // empty: none
    std::uint64_t pairs = 0;
    std::uint64_t of = 0;
    double seconds = 0;
  };

  std::string version;
  // Endpoints.
  std::vector<std::string> service;
  std::vector<std::string> ingest;
  std::vector<std::string> feed;
  std::optional<bool> is_keeping;  // with a state
  std::optional<Starting> starting;
};

// To `streams`.
struct StreamsFacts {
  struct Stream {
    std::string name;
    std::vector<std::pair<std::string, std::string>> options;
    std::uint64_t pairs = 0;
    std::uint64_t model = 0;
  };

  std::vector<Stream> streams;
  std::uint64_t request_pairs = 0;
  std::uint64_t message_bytes = 0;
};

// To `stats`.
struct StatsFacts {
  struct Stream {
    std::string name;
    StreamStatistics statistics;
    bool has_calibration = false;  // with that of the model in use
  };

  std::vector<Stream> streams;
  DaemonStatistics daemon;
  std::optional<StateStatistics> state;
};

using DaemonFacts = std::variant<std::monostate, PingFacts, StreamsFacts, StatsFacts>;

// As members, each with a comma before it.
[[nodiscard]] std::string facts_json(const DaemonFacts& facts);

}  // namespace phsic
