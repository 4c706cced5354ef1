// What came of a request, in columns: one value for each of its pairs or candidates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "engine/batch.h"
#include "engine/stream_scorer.h"
#include "wire/facts.h"
#include "wire/request.h"

namespace phsic {

struct Outcome {
  std::optional<RequestError> error;  // nothing else counts then, but for the feed

  // Of scores; NaN where there is none, all empty where none were wanted.
  std::vector<double> score;
  std::vector<double> percentile;
  std::vector<double> p_value;
  std::vector<std::uint8_t> flagged;  // 1 or 0; bytes, because workers write to rows of their own
  std::vector<PairProblem> problems;  // ascending by row
  std::shared_ptr<const PublishedModel> published;  // what scored them; of a refresh, the new one

  // Of learning.
  std::size_t learned = 0;
  std::size_t duplicates = 0;  // seen before, not learned again
  bool is_durable = false;
  std::optional<std::size_t> until_refresh;  // pairs before the next model; none: no models

  std::optional<PairExplanation> explanation;
  DaemonFacts facts;                 // of what the daemon answers at once
  std::uint64_t pairs = 0;           // learned in all, of a refresh; covered, of a snapshot
  std::uint64_t snapshot_bytes = 0;  // of a snapshot
};

}  // namespace phsic
