// The life of a stream's models, over and over:
//
//   learn ... -> due -> freeze -> build -> adopt
//
// with a note of each step, for a journal. The command, the daemon, recovery and rebuild all drive
// their streams by this cycle, so that the same pairs give the same models everywhere. When and
// where a model is built is up to them: at once, or in another thread while learning goes on.
//
// For the learner's thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "core/error.h"
#include "engine/stream_learner.h"

namespace phsic {

class ModelCycle {
 public:
  // Notes what happens, in order, so that it can be done again.
  class Notes {
   public:
    Notes() = default;
    virtual ~Notes() = default;
    Notes(const Notes&) = delete;
    Notes& operator=(const Notes&) = delete;
    Notes(Notes&&) = delete;
    Notes& operator=(Notes&&) = delete;

    virtual void freeze(PairExtent extent) = 0;
    virtual void adopt(std::string adoption) = 0;
    virtual void abandon() = 0;
    virtual void refresh_every(std::uint64_t pairs) = 0;
  };

  // Null notes: nothing is noted. `pending` is a model that was begun before.
  explicit ModelCycle(StreamLearner& stream, Notes* notes = nullptr,
                      std::unique_ptr<Refresh> pending = nullptr);

  // Learns rows from `first` on up to where a model is due, or all of them while one is on its way.
  // Returns the row after the last one learned.
  std::size_t learn(const LearnBatch& batch, std::size_t first);
  // From now on a model is due after so many pairs.
  void refresh_every(std::uint64_t pairs);
  // Whether a model is due by the number of pairs and none is on its way.
  [[nodiscard]] bool is_due() const;

  // Begins a model of what was learned so far. False: the stream has no models. Throws when there
  // is no memory for it, and the next one is due as if this one had been given up. REQUIRES: none
  // is on its way.
  bool begin(PairExtent extent);
  // The model on its way, to be built in any thread; null: none is. Nothing else of the cycle may
  // change it meanwhile.
  [[nodiscard]] Refresh* pending() const { return pending_.get(); }
  // Brings the model on its way into use. REQUIRES: it was built. Throws when the stream cannot
  // take the model, or when it cannot be noted; the model is then given up. If it is still on its
  // way after that, the stream may have taken half of it: there is no way back.
  void adopt();
  // Builds the model on its way here and now, and brings it into use. Returns the Error of a model
  // that cannot be built, which is then given up. Throws what the notes throw, and everything that
  // is no Error. REQUIRES: one is on its way.
  [[nodiscard]] std::optional<Error> complete();
  // Gives up the model on its way.
  void abandon();

  // Begins a model and completes it. Does nothing for a stream without models. Throws when the
  // model cannot be built; it is then given up.
  void refresh(PairExtent extent);

  // Hands the model on its way over to another cycle of the same stream. Afterwards none is on its
  // way here. Nothing is noted.
  [[nodiscard]] std::unique_ptr<Refresh> take_pending() { return std::move(pending_); }

 private:
  enum class Built : bool { kNotYet, kYes };
  [[nodiscard]] std::optional<Error> finish(Built built);

  StreamLearner& stream_;
  Notes* notes_;
  std::unique_ptr<Refresh> pending_;
};

}  // namespace phsic
