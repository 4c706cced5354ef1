// What is asked of a daemon, by whatever transport it came.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"

namespace phsic {

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

// Why a request cannot be served; docs/protocol.md lists the codes.
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
  std::vector<std::string> ids;  // as they were written; empty: none was given

  // Pairs or candidates.
  [[nodiscard]] std::size_t size() const { return are_vectors ? y_rows : y.size(); }
  // The bytes of row i, as it is encoded.
  [[nodiscard]] std::size_t row_bytes(std::size_t i) const {
    if (are_vectors) return sizeof(float) * (x_dim + y_dim);
    return y[i].size() + (x.size() == y.size() ? x[i].size() : 0);
  }
  // The bytes of what is encoded beside the rows: the x of a rank.
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

struct Request {
  Operation operation = Operation::kPing;
  std::string id;      // as it was written, for the answer; empty: none
  std::string stream;  // empty: the only one
  PairBlock pairs;
  bool scores = false;  // wants scores
  bool learns = false;
  bool waits = false;           // answered when the pairs are learned
  std::optional<bool> durable;  // answered when they are on the disk; none: as the stream has it
  bool all = false;             // a model of all pairs, held-back ones too
  bool calibration = false;
  std::size_t top = 5;           // pairs that an explanation names
  std::string pair_id;           // as it was written: explains a pair that was dropped
  std::vector<std::string> via;  // the daemons that published the pairs before
  double arrival_time = 0;       // seconds since 1970

  // Whether there is something to decide about each of its pairs.
  [[nodiscard]] bool is_decided() const { return operation == Operation::kScore || learns; }
  // An order to the learner, without pairs.
  [[nodiscard]] bool is_order() const {
    return operation == Operation::kRefresh || operation == Operation::kSnapshot;
  }
};

}  // namespace phsic
