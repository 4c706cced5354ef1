// Reads what a daemon answers. Every function throws an Error when the answer is not as
// docs/protocol.md says.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/calibration.h"
#include "core/error.h"
#include "engine/batch.h"
#include "engine/stream_facts.h"
#include "wire/message.h"
#include "wire/request_writer.h"

namespace phsic {

// An answer with "ok": false.
class RefusedError : public Error {
 public:
  RefusedError(std::string code, const std::string& message)
      : Error(message), code_(std::move(code)) {}
  [[nodiscard]] const std::string& code() const { return code_; }

 private:
  std::string code_;  // "overloaded"
};

// What was refused, and why; none when all is well. `endpoint` is for the message.
[[nodiscard]] std::optional<RefusedError> refusal(const JsonObject& answer,
                                                  const std::string& endpoint);

// The answer to `count` pairs or candidates: scores[i], NaN where there is none. Problems are added
// with `first` added to their rows; one of the x that is ranked has PairProblem::kNoRow.
void read_scores(const JsonObject& answer, std::size_t first, std::size_t count, double* scores,
                 std::vector<PairProblem>& problems);
// The problems alone, of an answer without scores.
void read_problems(const JsonObject& answer, std::size_t first, std::size_t count,
                   std::vector<PairProblem>& problems);

// What `stats` has of one stream. The name may be empty where there is only one stream.
[[nodiscard]] JsonObject stats_of_stream(const JsonObject& answer, const std::string& stream);
[[nodiscard]] StreamFacts read_facts(const JsonObject& stats);
// Empty if there is none.
[[nodiscard]] Calibration read_calibration(const JsonObject& answer, const JsonObject& stats);

struct RemoteStream {
  std::string name;
  std::vector<std::pair<std::string, std::string>> options;  // as they were written
  std::uint64_t pairs = 0;
  std::uint64_t model = 0;
};
// The answer to `streams`.
[[nodiscard]] std::vector<RemoteStream> read_streams(const JsonObject& answer);
// What the daemon takes of a request, from the same answer; the defaults where it does not say.
[[nodiscard]] RequestLimits read_limits(const JsonObject& answer);
// Its stream of that name, or its only one. Throws an Error that lists those there are.
[[nodiscard]] const RemoteStream& choose_stream(const std::vector<RemoteStream>& streams,
                                                const std::string& name,
                                                const std::string& endpoint);

// The answer to `ping`: endpoints of the socket `service`, `ingest` or `feed`.
[[nodiscard]] std::vector<std::string> read_endpoints(const JsonObject& answer,
                                                      std::string_view socket);

}  // namespace phsic
