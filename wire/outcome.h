// What came of a request, in columns: one value for each of its pairs or candidates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "decide/decision.h"
#include "engine/batch.h"
#include "engine/stream_scorer.h"
#include "wire/dropped_pair.h"
#include "wire/facts.h"
#include "wire/request.h"

namespace phsic {

struct Outcome {
  std::optional<RequestError> error;  // nothing else counts then, but for the feed

  // Of scores; NaN where there is none, all empty where none were wanted.
  std::vector<double> score;
  std::vector<double> percentile;
  std::vector<double> p_value;
  std::vector<double> quality;  // NaN where there is no judge
  // What was decided about each pair, of `score` and `explain`. Bytes, because workers write to
  // rows of their own.
  std::vector<std::uint8_t> verdict;
  std::vector<ReasonCode> reason;
  std::vector<PairProblem> problems;                // ascending by row
  std::vector<LeftOut> left_out;                    // likewise; views that could not be asked
  std::shared_ptr<const PublishedModel> published;  // what scored them; of a refresh, the new one

  // Of learning.
  std::size_t learned = 0;
  std::size_t duplicates = 0;   // ids seen before, not learned again
  std::size_t not_learned = 0;  // because of a rule or as a duplicate
  bool is_durable = false;
  std::optional<std::size_t> until_refresh;  // pairs before the next model; none: no models

  std::optional<PairExplanation> explanation;
  std::optional<DroppedPair> dropped;  // of an explanation by the id of a pair
  DaemonFacts facts;                   // of what the daemon answers at once
  std::uint64_t pairs = 0;             // learned in all, of a refresh; covered, of a snapshot
  std::uint64_t snapshot_bytes = 0;    // of a snapshot

  // REQUIRES: decisions were wanted.
  [[nodiscard]] Decision decision(std::size_t row) const {
    return {static_cast<Verdict>(verdict[row]), reason[row]};
  }
  void decide(std::size_t row, const Decision& decision) {
    verdict[row] = static_cast<std::uint8_t>(decision.verdict);
    reason[row] = decision.reason;
  }
};

}  // namespace phsic
