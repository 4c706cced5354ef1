// Keeps what deciding remembers of a stream at work: notes pairs in the memory and in the journal,
// in the same order, and has the cut of each model chosen.
//
// Belongs to the learner's thread, except where a function says otherwise.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "daemon/serving/published_plan.h"
#include "decide/decision_memory.h"
#include "decide/memory_replay.h"
#include "engine/model_cycle.h"
#include "engine/stream.h"
#include "state/stream_journal.h"

namespace phsic {

class DecisionKeeper : public ModelCycle::Notes {
 public:
  // Goes on with what was recovered: the model in use gets its cut. Without a journal nothing is
  // noted but in the memory. `options` is JSON of what was said of decisions, for snapshots. Before
  // the learner's thread is started.
  DecisionKeeper(Stream& stream, StreamJournal* journal, const StateParts& recovered,
                 const DecidePlan& plan, std::string options, PublishedPlan& published);

  // A pair was learned.
  void learned(std::string_view x, std::string_view y, const PairKey& key, double time,
               const IdHash& id, const DecisionCode& decision);
  void learned(std::span<const float> x, std::span<const float> y, const PairKey& key, double time,
               const IdHash& id, const DecisionCode& decision);
  // A pair was not learned, for what it is or because it came before.
  void rejected(const DecisionCode& decision);

  // Notes of models; with the cut of each that comes into use. REQUIRES: there is a journal.
  void freeze(PairExtent extent) override { journal_->freeze(extent); }
  void adopt(std::string adoption) override;
  void abandon() override { journal_->abandon(); }
  void refresh_every(std::uint64_t pairs) override { journal_->refresh_every(pairs); }
  // The journal's notes go through this; null: there is no journal.
  [[nodiscard]] ModelCycle::Notes* notes() { return journal_ != nullptr ? this : nullptr; }

  // Another plan holds from now on: any thread. Comes into force with follow_plan(), also for the
  // model in use.
  void set_plan(std::shared_ptr<const DecidePlan> plan, std::string options);
  void follow_plan();

  [[nodiscard]] const DecisionMemory& memory() const { return memory_; }
  // Into a snapshot.
  void save(StateParts& parts) const;

 private:
  [[nodiscard]] std::optional<double> choose(const Calibration& calibration);
  [[nodiscard]] bool has_model() const;

  Stream& stream_;
  StreamJournal* journal_;
  PublishedPlan& published_;
  DecisionMemory memory_;
  std::string options_;
  bool owes_note_ = false;  // of a cut that was chosen

  struct Wanted {
    std::shared_ptr<const DecidePlan> plan;
    std::string options;
  };
  std::mutex mutex_;  // guards wanted_
  std::optional<Wanted> wanted_;
};

}  // namespace phsic
