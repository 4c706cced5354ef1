// What an operator says of a daemon: endpoints, limits, streams.
//
// Read from YAML. One table for the daemon and one for its streams hold every option with its
// default and meaning; the checks and docs/configuration.md are made from them. All errors are
// reported at once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "decide/decide_spec.h"
#include "engine/stream_spec.h"

namespace phsic {

// A stream and how it is served.
struct StreamSettings {
  std::string name;
  StreamSpec spec;
  DecideSpec decide;
  // Every option that was set for it, `defaults` included: name and value as written.
  std::vector<std::pair<std::string, std::string>> options;
  double refresh_seconds = 5;       // a new model after so long, if anything was learned; 0: never
  double time_slack = 60;           // seconds that the time of a pair may be ahead of its arrival
  bool feed_texts = false;          // texts on the feed
  std::uint32_t workers = 1;        // threads that encode and score
  std::uint32_t batch_pairs = 256;  // scored at once, at most
  std::uint64_t queue_pairs = 16384;  // accepted and not scored yet, at most
  std::uint64_t queue_bytes = 64U << 20U;
  std::uint64_t learn_queue_pairs = 65536;  // accepted and not learned yet, at most
  std::uint64_t learn_queue_bytes = 64U << 20U;
  double learn_share = 0.2;         // of the workers while clients wait for scores
  std::vector<std::string> ingest;  // endpoints of its own
  std::optional<bool> promise;      // durable or not; none: where there is a state
  std::uint32_t id_window = 65536;  // ids of pairs remembered; 0: none

  bool operator==(const StreamSettings&) const = default;

  // The rules, duplicates and cut by which its pairs are decided about. Throws an Error if they
  // contradict each other.
  [[nodiscard]] DecidePlan plan() const { return plan_of(decide, spec); }
  // True if a request that does not say itself is answered when its pairs are on the disk.
  [[nodiscard]] bool promises_durable(bool has_state) const { return promise.value_or(has_state); }
};

struct Subscription {
  std::string endpoint;
  std::string topic;  // a prefix
  std::string stream;

  bool operator==(const Subscription&) const = default;
};

struct Config {
  std::vector<std::string> service = {"tcp://127.0.0.1:7470"};
  std::vector<std::string> ingest = {"tcp://127.0.0.1:7471"};
  std::vector<std::string> feed = {"tcp://127.0.0.1:7472"};
  std::vector<Subscription> subscribe;
  bool exposed = false;  // endpoints may be other than loopback
  std::string log_level = "info";
  std::string log_format = "text";  // or json
  std::vector<std::string> encoder_path;
  std::uint64_t message_bytes = 4U << 20U;  // of one frame, at most
  std::uint32_t request_pairs = 65536;      // of one request, at most
  std::uint32_t feed_queue = 10000;         // messages kept for a subscriber that is slow
  std::uint64_t feed_bytes = 64U << 20U;    // the same in bytes, of all subscribers
  double drain_seconds = 10;
  std::string state;              // the file; empty: nothing is kept
  bool keeps_journal = false;     // all of it, and not only what no snapshot has
  double commit_delay = 0;        // seconds that a commit waits for more
  double snapshot_seconds = 300;  // 0: not by time
  std::uint64_t snapshot_bytes = 64U << 20U;
  std::uint32_t snapshots = 3;          // kept of each stream
  std::vector<StreamSettings> streams;  // never empty

  bool operator==(const Config&) const = default;
};

// The configuration without a file: config/phsicd.yaml, embedded.
[[nodiscard]] std::string_view default_config_text();

// A setting from the command line: "service=ipc:///run/x", "streams.chat.half-life=2h".
struct Override {
  std::string path;
  std::string value;
};

// Throws an Error with all that is wrong, a line each: file:line: path: found ..., expected ...
[[nodiscard]] Config read_config(const std::string& file, const std::vector<Override>& overrides);
[[nodiscard]] Config parse_config(std::string_view text, const std::string& name,
                                  const std::vector<Override>& overrides);

// docs/configuration.md, whole.
[[nodiscard]] std::string config_reference();

}  // namespace phsic
