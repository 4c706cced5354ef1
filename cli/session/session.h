// What a verb works with: a stream of its own, in this process, or one in a daemon.
//
//   pair -> encode -> score with the present model -> decide -> learn -> refresh
//
// What a rule rejects, and what came not long ago, is not learned (decide/).
//
// A score depends on its pair and the model alone, to the last bit on the same type of processor:
// neither on the number of threads nor on how pairs were batched. One thread at a time may call a
// Session; it starts others itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/session/pair_results.h"
#include "core/calibration.h"
#include "decide/decide_spec.h"
#include "engine/batch.h"
#include "engine/encoder_library.h"
#include "engine/stream_facts.h"
#include "engine/stream_spec.h"

namespace phsic {

class Session {
 public:
  // Opens the encoders. Throws an Error that says what is wrong with the specification.
  [[nodiscard]] static std::unique_ptr<Session> open(const StreamSpec& spec,
                                                     const DecideSpec& decide,
                                                     const EncoderPath& path, std::size_t threads);

  Session() = default;
  virtual ~Session() = default;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  Session(Session&&) = delete;
  Session& operator=(Session&&) = delete;

  // Scores each pair with the model of the moment, and decides about it by rules and by the cut.
  // Before anything was learned every score is 0. What a pair that was learned before has taught
  // itself is taken out of its score, where the session can tell.
  virtual void score(const TextPairs& pairs, PairResults& results) = 0;
  // Learns them, in order.
  virtual void learn(const TextPairs& pairs, std::vector<PairProblem>& problems) = 0;
  // Scores them all, then decides about each and learns it, in order: no pair vouches for itself.
  virtual void score_then_learn(const TextPairs& pairs, PairResults& results) = 0;
  // Learns them, and keeps the model as new as score_then_learn() would.
  virtual void learn_and_refresh(const TextPairs& pairs, std::vector<PairProblem>& problems) = 0;
  // At most so many pairs may be handed to score_then_learn() or learn_and_refresh() at once, so
  // that each is scored by the newest model there can be.
  [[nodiscard]] virtual std::size_t until_refresh() const = 0;

  // Builds the model of everything that was learned.
  virtual void finish() = 0;

  // scores[j] of x with candidates[j]. May be called from several threads at once, while nothing
  // else is. A problem of x has the row PairProblem::kNoRow. `left_out` are views that could not be
  // asked.
  virtual void rank(std::string_view x, std::span<const std::string_view> candidates,
                    double* scores, std::vector<PairProblem>& problems,
                    std::vector<LeftOut>& left_out) const = 0;

  [[nodiscard]] virtual StreamFacts facts() const = 0;
  // A line for standard error for each view of the stream that was of no use to any of the pairs
  // learned, or scored if none was learned; empty where nobody can tell.
  [[nodiscard]] virtual std::string blind_views() const { return {}; }
  // What holds for decisions.
  [[nodiscard]] virtual const DecidePlan& plan() const = 0;
  // What scores of the present model mean; empty when that is not known.
  [[nodiscard]] virtual const Calibration& calibration() const = 0;
  // The lowest score that is kept at present; none when that is not known.
  [[nodiscard]] virtual std::optional<double> cut() const = 0;
};

}  // namespace phsic
