// A stream of pairs, in the parts that run in different threads:
//
//   any thread      encode -> score, rank        with the model in use
//   the learner     learn -> freeze              the learned state is its own
//   any thread      Refresh::build               a model of the frozen state
//   the learner     adopt                        the model comes into use
//
// "The learner" is whichever one thread at a time calls learn(), until_refresh(), freeze(),
// adopt(), skip_refresh(), pairs() and what has to do with keeping.
//
// What was learned is a function of what the learner did, in order: learn(), freeze(), adopt() and
// refresh_every(). Who notes these down can do them again (state/recovery.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/stream_config.h"
#include "engine/batch.h"
#include "engine/encoder_library.h"
#include "engine/stream_spec.h"

namespace phsic {

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

// A copy of all that a stream has learned, and of the model in use.
class StreamState {
 public:
  StreamState() = default;
  virtual ~StreamState() = default;
  StreamState(const StreamState&) = delete;
  StreamState& operator=(const StreamState&) = delete;
  StreamState(StreamState&&) = delete;
  StreamState& operator=(StreamState&&) = delete;

  // The long part. Any thread.
  virtual void save(Writer& writer) const = 0;
};

// Something that learned state depends on: "x kernel", "cosine".
struct StreamTrait {
  std::string name;
  std::string value;

  bool operator==(const StreamTrait&) const = default;
};

// Why a pair scores as it does.
struct PairExplanation {
  struct Part {
    double contribution = 0;
    std::uint64_t number = 0;  // of the learned pair, from 0
    std::string x;
    std::string y;
  };
  double score = 0;
  double rest = 0;  // what no learned pair has a share in
  std::vector<Part> raise;
  std::vector<Part> lower;
  std::shared_ptr<const PublishedModel> published;
  std::string problem;  // why the pair cannot be scored, if so
};

class Stream {
 public:
  using Extent = PairExtent;

  // Opens the encoders. Throws an Error that says what is wrong with the specification.
  [[nodiscard]] static std::unique_ptr<Stream> open(const StreamSpec& spec,
                                                    const EncoderPath& path);

  Stream() = default;
  virtual ~Stream() = default;
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  Stream(Stream&&) = delete;
  Stream& operator=(Stream&&) = delete;

  // -- Any number of threads --

  [[nodiscard]] virtual ItemShape shape_x() const = 0;
  [[nodiscard]] virtual ItemShape shape_y() const = 0;
  [[nodiscard]] virtual std::shared_ptr<const PublishedModel> published() const = 0;

  // Texts to items, and which of them can be used. Throws an Error when an encoder fails.
  virtual void encode(const TextPairs& pairs, Batch& batch) const = 0;
  // The same for pairs that are vectors already. REQUIRES: dense shapes, rows of their dimensions.
  virtual void take(const DenseRows<float>& x, const DenseRows<float>& y, Batch& batch) const = 0;
  // Scores what was encoded with the model in use. Before the first every score is 0.
  virtual void score(Batch& batch) const = 0;
  // Is each pair learned as soon as it is scored, by score_and_learn() and not by the learner?
  [[nodiscard]] virtual bool learns_one_by_one() const = 0;
  // Scores each pair, then learns it if it is usable, in order. `times` may be null. Returns how
  // many rows that were: where there is no memory for a pair, neither it nor any after it is scored
  // and learned. REQUIRES: learns_one_by_one().
  [[nodiscard]] virtual std::size_t score_and_learn(Batch& batch, const double* times) = 0;

  // scores[j] of x with candidates[j]. A problem of x has the row PairProblem::kNoRow.
  virtual void rank(std::string_view x, std::span<const std::string_view> candidates,
                    Batch& batch) const = 0;
  virtual void rank(const DenseRows<float>& x, const DenseRows<float>& candidates,
                    Batch& batch) const = 0;

  // The learned pairs that raise and lower a score most, `top` of each. None when there is no model
  // to explain with. Takes a while.
  [[nodiscard]] virtual std::optional<PairExplanation> explain(std::string_view x,
                                                               std::string_view y,
                                                               std::size_t top) const = 0;

  // -- The learner --

  // Learns pairs from row `first` on, and stops where a refresh becomes due, if `stops`. Returns
  // the row after the last one learned.
  virtual std::size_t learn(const LearnBatch& learn_batch, std::size_t first, bool stops) = 0;
  // How many more pairs until a refresh is due; 0: it is. Never for a stream without models.
  [[nodiscard]] virtual std::size_t until_refresh() const = 0;
  // Has enough been learned for a model that can be measured? If not, a refresh is due neither by
  // number nor by time.
  [[nodiscard]] virtual bool is_measurable() const = 0;
  // A copy of what was learned so far, to build a model from. Null for a stream without models.
  // Throws when there is no memory for it; the next one is due as if it had been made.
  [[nodiscard]] virtual std::unique_ptr<Refresh> freeze(Extent extent) = 0;
  // Brings the built model into use, and its pivots.
  virtual void adopt(Refresh& refresh) = 0;
  // From now on a refresh is due after so many pairs; 0: when a third more has been learned. False:
  // that is nothing new.
  virtual bool refresh_every(std::uint64_t pairs) = 0;
  // Instead of a refresh, when no model is wanted: pivots have to keep up.
  virtual void skip_refresh() = 0;
  // Learned so far.
  [[nodiscard]] virtual std::uint64_t pairs() const = 0;
  // How many vectors were shortened, being far longer than is usual.
  [[nodiscard]] virtual std::uint64_t clipped() const = 0;

  // -- The learner, to keep what was learned --

  // Everything that learned state depends on. A stream can only go on with the state of one that
  // had the same.
  [[nodiscard]] virtual std::vector<StreamTrait> identity() const = 0;
  // REQUIRES: no refresh is on its way.
  [[nodiscard]] virtual std::unique_ptr<const StreamState> state() const = 0;
  // Goes on from there. Throws an Error, and nothing changes, unless it is a state of such a
  // stream.
  virtual void restore(Reader& reader) = 0;
  // As freeze() was called, for a model that nobody needs any more.
  virtual void freeze_again(Extent extent) = 0;
  // As that model was adopted: new pivots and all, but the model itself. Throws an Error unless
  // Refresh::adoption() has given it.
  virtual void adopt_again(std::string_view adoption) = 0;
  // Adds what another stream of the same identity, but for the seed, has learned of other pairs.
  // The model in use stays. Throws an Error if it cannot be done.
  virtual void merge(const Stream& other) = 0;
};

}  // namespace phsic
