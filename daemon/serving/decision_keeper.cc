#include "daemon/serving/decision_keeper.h"

#include <utility>

#include "core/calibration.h"

namespace phsic {

DecisionKeeper::DecisionKeeper(Stream& stream, StreamJournal* journal, const StateParts& recovered,
                               const DecidePlan& plan, std::string options,
                               PublishedPlan& published)
    : stream_(stream),
      journal_(journal),
      published_(published),
      memory_(memory_of(recovered, plan)),
      options_(std::move(options)) {
  published_.set(memory_.profile());
  stream_.cut_by_quality(memory_.plan().cut.kind == CutSpec::Kind::kQuality);
  stream_.choose_cuts([this](const Calibration& calibration) { return choose(calibration); });
  if (!has_model()) return;
  if (!memory_.has_cut()) {
    // The cut of a stream that counts does not change: there is nothing to note.
    owes_note_ = stream_.counter() == nullptr;
    static_cast<void>(choose(stream_.published()->calibration()));
  }
  stream_.set_cut(memory_.cut());
}

bool DecisionKeeper::has_model() const {
  return stream_.counter() != nullptr || stream_.published()->number > 0;
}

std::optional<double> DecisionKeeper::choose(const Calibration& calibration) {
  const auto cut = memory_.choose_cut(calibration);
  published_.set(memory_.profile());
  return cut;
}

void DecisionKeeper::learned(std::string_view x, std::string_view y, const PairKey& key,
                             double time, const IdHash& id, const DecisionCode& decision) {
  memory_.learned(x, y, key, decision_of(decision));
  if (journal_ != nullptr) journal_->add(x, y, time, id, decision);
}

void DecisionKeeper::learned(std::span<const float> x, std::span<const float> y, const PairKey& key,
                             double time, const IdHash& id, const DecisionCode& decision) {
  memory_.learned(key, decision_of(decision));
  if (journal_ != nullptr) journal_->add(x, y, time, id, decision);
}

void DecisionKeeper::rejected(const DecisionCode& decision) {
  const auto* const before = memory_.profile().get();
  memory_.rejected(decision_of(decision));
  if (memory_.profile().get() != before) published_.set(memory_.profile());
  if (journal_ != nullptr) journal_->reject(decision);
}

void DecisionKeeper::adopt(std::string adoption) {
  journal_->adopt(std::move(adoption));
  journal_->cut(memory_.cut_note());
  owes_note_ = false;
}

void DecisionKeeper::set_plan(std::shared_ptr<const DecidePlan> plan, std::string options) {
  const std::lock_guard lock(mutex_);
  wanted_ = Wanted{std::move(plan), std::move(options)};
}

void DecisionKeeper::follow_plan() {
  std::optional<Wanted> wanted;
  {
    const std::lock_guard lock(mutex_);
    wanted.swap(wanted_);
  }
  if (wanted) {
    const bool is_other_cut = wanted->plan->cut != memory_.plan().cut;
    memory_.set_plan(*wanted->plan);
    options_ = std::move(wanted->options);
    stream_.cut_by_quality(memory_.plan().cut.kind == CutSpec::Kind::kQuality);
    if (is_other_cut && has_model()) {
      stream_.set_cut(choose(stream_.published()->calibration()));
      owes_note_ = stream_.counter() == nullptr;
    }
  }
  if (!owes_note_) return;
  owes_note_ = false;
  if (journal_ != nullptr) journal_->cut(memory_.cut_note());
}

void DecisionKeeper::save(StateParts& parts) const {
  parts[kDecidePart] = memory_.save();
  parts[kDecideOptionsPart] = options_;
}

}  // namespace phsic
