// One request on its way through the daemon: decoded, queued, scored, answered.
//
// The I/O thread makes it, a lane's threads work on it one after the other (workers on different
// rows at once), and the I/O thread sends what came of it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "engine/batch.h"

namespace phsic {

class Lane;

enum class Operation : std::uint8_t {
  kScore,
  kLearn,
  kRank,
  kExplain,
  kStats,
  kStreams,
  kRefresh,
  kSnapshot,
  kPing,
};

// What a client is told when its request cannot be served; docs/protocol.md lists the codes.
class RequestError : public Error {
 public:
  RequestError(std::string code, const std::string& message)
      : Error(message), code_(std::move(code)) {}
  [[nodiscard]] const std::string& code() const { return code_; }

 private:
  std::string code_;
};

// The pairs of a request, or the one x and the candidates of a rank.
struct PairBlock {
  // Texts.
  std::string bytes;  // never reallocated once views point into it
  std::vector<std::string_view> x;
  std::vector<std::string_view> y;
  // Vectors, row by row.
  bool are_vectors = false;
  std::vector<float> x_values;
  std::vector<float> y_values;
  std::size_t x_rows = 0;
  std::size_t y_rows = 0;
  std::size_t x_dim = 0;
  std::size_t y_dim = 0;

  std::vector<double> times;     // NaN where none was given; empty: none was
  std::vector<std::string> ids;  // as JSON; empty: none was given

  // Pairs or candidates.
  [[nodiscard]] std::size_t size() const { return are_vectors ? y_rows : y.size(); }
  // Of row i, as it is encoded.
  [[nodiscard]] std::size_t row_bytes(std::size_t i) const {
    if (are_vectors) return sizeof(float) * (x_dim + y_dim);
    return y[i].size() + (x.size() == y.size() ? x[i].size() : 0);
  }
  // Of what is encoded beside the rows: the x of a rank.
  [[nodiscard]] std::size_t shared_bytes() const {
    return are_vectors || x.size() == y.size() ? 0 : x[0].size();
  }
  // All of it in memory.
  [[nodiscard]] std::size_t byte_count() const {
    auto count = bytes.size() + sizeof(float) * (x_values.size() + y_values.size()) +
                 sizeof(std::string_view) * (x.size() + y.size()) + sizeof(double) * times.size();
    for (const auto& id : ids) count += sizeof(std::string) + id.size();
    return count;
  }
};

struct Job {
  using Clock = std::chrono::steady_clock;

  // The request. Immutable once queued.
  Operation operation = Operation::kPing;
  std::string stream;
  std::string id;  // as JSON; empty: none
  PairBlock pairs;
  bool scores = false;  // wants scores
  bool learns = false;
  bool waits = false;
  std::optional<bool> promise;  // durable or not; none: as the stream has it
  bool durable = false;         // answered when on the disk
  bool all = false;
  bool calibration = false;
  std::size_t top = 5;

  // Who asked. Empty: nobody, the pairs came by ingest.
  std::string client;
  bool has_delimiter = false;    // of a REQ socket
  std::vector<std::string> via;  // the daemons that published the pairs before
  Clock::time_point arrived;
  double arrival_time = 0;  // seconds since 1970
  Lane* lane = nullptr;
  std::uint64_t charged = 0;  // bytes in the lane's backlog until it is answered

  // The results. Workers write to rows of their own; `problems` and the rest under `mutex`.
  std::vector<double> score;
  std::vector<double> percentile;
  std::vector<double> p_value;
  std::mutex mutex;
  std::vector<PairProblem> problems;
  std::shared_ptr<const PublishedModel> published;
  std::optional<RequestError> error;
  bool is_hopeless = false;  // there was not even memory for the error
  std::atomic<std::size_t> rows_left{0};
  std::atomic<std::size_t> learned{0};
  std::atomic<std::size_t> duplicates{0};  // pairs seen before, not learned again
  std::uint64_t snapshot_pairs = 0;
  std::uint64_t snapshot_bytes = 0;

  std::string reply;  // JSON
  // The feed: JSON without its opening brace and sequence number, one after the other.
  std::string feed;
  std::vector<std::size_t> feed_ends;
  std::vector<bool> flagged;

  // What it takes while it waits, with room for its scores.
  [[nodiscard]] std::size_t byte_count() const {
    return sizeof(Job) + pairs.byte_count() + (scores ? 3 * sizeof(double) * pairs.size() : 0);
  }
};

}  // namespace phsic
