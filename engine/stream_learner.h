// A stream as its learner sees it: one thread at a time.
//
//   the learner     learn -> freeze              the learned state is its own
//   any thread      Refresh::build               a model of the frozen state
//   the learner     adopt                        the model comes into use
//
// engine/model_cycle.h drives it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "core/stream_config.h"
#include "engine/batch.h"

namespace phsic {

class Calibration;

// Chooses the lowest score that a model keeps, just before the model comes into use. For the
// learner's thread.
using CutChooser = std::function<std::optional<double>(const Calibration&)>;

// A frozen state on its way to a model.
class Refresh {
 public:
  Refresh() = default;
  virtual ~Refresh() = default;
  Refresh(const Refresh&) = delete;
  Refresh& operator=(const Refresh&) = delete;
  Refresh(Refresh&&) = delete;
  Refresh& operator=(Refresh&&) = delete;

  // The long part. Any thread; throws an Error when the model cannot be built.
  virtual void build() = 0;
  // What adopt_again() needs. REQUIRES: built, and not adopted yet.
  [[nodiscard]] virtual std::string adoption() const = 0;
};

class StreamLearner {
 public:
  StreamLearner() = default;
  virtual ~StreamLearner() = default;
  StreamLearner(const StreamLearner&) = delete;
  StreamLearner& operator=(const StreamLearner&) = delete;
  StreamLearner(StreamLearner&&) = delete;
  StreamLearner& operator=(StreamLearner&&) = delete;

  // Learns pairs from row `first` on, and stops where a refresh becomes due, if `stops`. Returns
  // the row after the last one learned.
  virtual std::size_t learn(const LearnBatch& batch, std::size_t first, bool stops) = 0;
  // How many more pairs until a refresh is due; 0: it is. Never for a stream without models.
  [[nodiscard]] virtual std::size_t until_refresh() const = 0;
  // Whether enough has been learned for a model that can be measured. If not, a refresh is due
  // neither by number nor by time.
  [[nodiscard]] virtual bool is_measurable() const = 0;
  // A copy of what was learned so far, to build a model from. Null for a stream without models.
  // Throws when there is no memory for it; the next one is due as if it had been made.
  [[nodiscard]] virtual std::unique_ptr<Refresh> freeze(PairExtent extent) = 0;
  // Brings the built model into use, and its pivots. Throws an Error, and nothing changes, if the
  // pivots do not fit.
  virtual void adopt(Refresh& refresh) = 0;
  // From now on a refresh is due after so many pairs; 0: when a third more has been learned. False:
  // it was so already.
  virtual bool refresh_every(std::uint64_t pairs) = 0;
  // From now on every model comes into use with the cut that is chosen for it.
  virtual void choose_cuts(CutChooser chooser) = 0;
  // From now on cuts are of quality, or of scores.
  virtual void cut_by_quality(bool /*is_by_quality*/) {}
  // The model in use gets this cut.
  virtual void set_cut(std::optional<double> cut) = 0;
  // Models are going to judge pairs that they have learned.
  virtual void will_judge_learned() {}
  // How many of the newest pairs a model of PairExtent::kWithoutHeldBack would leave out now.
  [[nodiscard]] virtual std::size_t held_back() const { return 0; }
  // Instead of a refresh, when no model is wanted: adopts new pivots where they are wanted, and
  // sets when the next refresh is due.
  virtual void skip_refresh() = 0;
  // How many pairs were learned so far.
  [[nodiscard]] virtual std::uint64_t pairs() const = 0;
  // How many vectors were shortened, being far longer than is usual.
  [[nodiscard]] virtual std::uint64_t clipped() const = 0;
};

// A stream whose counts are its model: every pair is scored by all pairs before it. One thread at a
// time.
class PairCounter {
 public:
  PairCounter() = default;
  virtual ~PairCounter() = default;
  PairCounter(const PairCounter&) = delete;
  PairCounter& operator=(const PairCounter&) = delete;
  PairCounter(PairCounter&&) = delete;
  PairCounter& operator=(PairCounter&&) = delete;

  // Scores each pair, then learns it if it is usable, in order. `times` may be null. Returns how
  // many rows were done. If there is no memory for a pair, neither it nor any pair after it is
  // scored and learned.
  [[nodiscard]] virtual std::size_t score_and_learn(Batch& batch, const double* times) = 0;
};

}  // namespace phsic
