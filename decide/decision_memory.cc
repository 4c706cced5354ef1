#include "decide/decision_memory.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/error.h"
#include "engine/damage.h"

namespace phsic {
namespace {

// The share of rejected pairs is that of about the last so many.
constexpr double kShareSpan = 4096;
constexpr std::uint32_t kMostReasons = 256;

double load_count(Reader& reader, const char* field) {
  const double count = reader.finite(field);
  if (count < 0 || count > 2 * kShareSpan) {
    reader.refuse(field, "found a count out of range, expected one of recent pairs");
  }
  return count;
}

}  // namespace

DecisionMemory::DecisionMemory(const DecidePlan& plan)
    : plan_(plan),
      recent_(plan.duplicate_window),
      profile_(std::make_shared<const LanguageProfile>()),
      cut_(plan.cut) {}

void DecisionMemory::set_plan(const DecidePlan& plan) {
  const auto window = plan_.duplicate_window;
  plan_ = plan;
  plan_.duplicate_window = window;
  if (plan.cut != cut_.spec()) cut_.set_spec(plan.cut);
}

void DecisionMemory::learned(std::string_view x, std::string_view y, const PairKey& key,
                             const Decision& decision) {
  running_.learn(x, y);
  learned(key, decision);
}

void DecisionMemory::learned(const PairKey& key, const Decision& decision) {
  recent_.add(key);
  count(decision, false);
}

// A duplicate that is judged by its score is not taken away, though nothing is learned of it.
void DecisionMemory::rejected(const Decision& decision) {
  constexpr double kMost = 0.5;
  count(decision, is_rejection(decision.reason));
  ++counts_.rejected;
  if (is_about_language(decision.reason) && rejected_share() > kMost) {
    profile_ = std::make_shared<const LanguageProfile>();
  }
}

void DecisionMemory::count(const Decision& decision, bool is_rejected) {
  constexpr double kFade = 1 - 1 / kShareSpan;
  seen_ = seen_ * kFade + 1;
  rejected_ = rejected_ * kFade + (is_rejected ? 1 : 0);
  ++counts_.verdicts[static_cast<std::size_t>(decision.verdict)];
  if (decision.reason != reasons::kNone) ++counts_.reasons[decision.reason];
}

double DecisionMemory::rejected_share() const { return seen_ > 0 ? rejected_ / seen_ : 0; }

std::optional<double> DecisionMemory::choose_cut(const Calibration& calibration) {
  profile_ = std::make_shared<const LanguageProfile>(running_);
  chosen_ = cut_.choose(calibration, rejected_share());
  has_cut_ = true;
  return chosen_;
}

std::string DecisionMemory::cut_note() const {
  Writer writer;
  save_cut(writer);
  return writer.bytes();
}

void DecisionMemory::replay_adoption() {
  profile_ = std::make_shared<const LanguageProfile>(running_);
  has_cut_ = false;
}

void DecisionMemory::replay_cut(std::string_view note) {
  Reader reader(note);
  // Not a copy of all that is remembered: a long journal has many models, and pairs are many.
  DecisionMemory loaded(plan_);
  loaded.load_cut(reader);
  reader.finish();
  cut_ = loaded.cut_;
  chosen_ = loaded.chosen_;
  has_cut_ = loaded.has_cut_;
  profile_ = std::make_shared<const LanguageProfile>(running_);
}

void DecisionMemory::save_cut(Writer& writer) const {
  cut_.save(writer);
  writer.number(cut_.spec().kind);
  writer.number(cut_.spec().value);
  writer.number<std::uint8_t>(has_cut_);
  writer.number<std::uint8_t>(chosen_.has_value());
  writer.number(chosen_.value_or(0));
}

void DecisionMemory::load_cut(Reader& reader) {
  cut_.load(reader);
  CutSpec chosen_by;
  chosen_by.kind = reader.enumerator("wish of the cut", CutSpec::Kind::kQuality);
  chosen_by.value = reader.finite("value of the wish");
  has_cut_ = reader.flag("has a cut");
  const bool is_chosen = reader.flag("cut is chosen");
  const auto chosen = reader.number<double>("cut");
  if (std::isnan(chosen)) reader.refuse("cut", "found NaN, expected a number");
  chosen_ = is_chosen ? std::optional(chosen) : std::nullopt;
  // Another cut is wanted now than was chosen then.
  if (chosen_by != cut_.spec()) has_cut_ = false;
}

std::string DecisionMemory::save() const {
  Writer writer;
  recent_.save(writer);
  running_.save(writer);
  profile_->save(writer);
  save_cut(writer);
  writer.number(seen_);
  writer.number(rejected_);
  for (const auto number : counts_.verdicts) writer.number(number);
  writer.number(counts_.rejected);
  writer.number(static_cast<std::uint32_t>(counts_.reasons.size()));
  for (const auto& [reason, number] : counts_.reasons) {
    writer.number(reason);
    writer.number(number);
  }
  return seal(kArchiveKind, writer.bytes());
}

void DecisionMemory::load(std::string_view bytes) {
  auto reader = unseal(kArchiveKind, bytes);
  DecisionMemory loaded(plan_);
  loaded.recent_.load(reader);
  loaded.running_ = LanguageProfile::load(reader);
  loaded.profile_ = std::make_shared<const LanguageProfile>(LanguageProfile::load(reader));
  loaded.load_cut(reader);
  loaded.seen_ = load_count(reader, "recent pairs");
  loaded.rejected_ = load_count(reader, "recent pairs rejected");
  if (loaded.rejected_ > loaded.seen_) {
    reader.refuse("recent pairs rejected", "found more than there were, expected no more");
  }
  for (auto& number : loaded.counts_.verdicts) number = reader.number<std::uint64_t>("decisions");
  loaded.counts_.rejected = reader.number<std::uint64_t>("pairs rejected");
  const auto count = reader.number_in<std::uint32_t>("reasons", 0, kMostReasons);
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto reason = reader.number<ReasonCode>("reason");
    auto& reasons = loaded.counts_.reasons;
    if (!reasons.empty() && reason <= reasons.rbegin()->first) {
      reader.refuse("reason", "found one out of order, expected ascending ones");
    }
    reasons[reason] = reader.number<std::uint64_t>("decisions for a reason");
  }
  reader.finish();
  *this = std::move(loaded);
}

void DecisionMemory::merge(const DecisionMemory& other) {
  recent_.merge(other.recent_);
  running_.merge(other.running_);
  // Both shares count by their pairs; together they are no more than the pairs of one span.
  const double seen = seen_ + other.seen_;
  const double rejected = rejected_ + other.rejected_;
  seen_ = std::min(seen, kShareSpan);
  rejected_ = seen > 0 ? std::min(rejected * (seen_ / seen), seen_) : 0;
  for (std::size_t i = 0; i < counts_.verdicts.size(); ++i) {
    counts_.verdicts[i] += other.counts_.verdicts[i];
  }
  counts_.rejected += other.counts_.rejected;
  for (const auto& [reason, number] : other.counts_.reasons) counts_.reasons[reason] += number;
}

Decision decide_by_score(double score, const std::optional<double>& cut) {
  if (std::isnan(score)) return {Verdict::kUndecided, reasons::kUnscored};
  if (!cut) return {Verdict::kUndecided, reasons::kNoModel};
  if (score >= *cut) return {Verdict::kKeep, reasons::kNone};
  return {Verdict::kDrop, reasons::kCut};
}

namespace {

// As where no cut is named and there is no judge.
Decision decide_by_usual_cut(double score, const Calibration& calibration) {
  const auto p_value = calibration.p_value(score);
  if (!p_value) return {Verdict::kUndecided, reasons::kNoModel};
  if (*p_value <= CutSpec().value) return {Verdict::kKeep, reasons::kNone};
  return {Verdict::kDrop, reasons::kCut};
}

}  // namespace

Decision decide_by_model(const PublishedModel& published, double score,
                         const Judgement* judgement) {
  if (!published.cuts_by_quality) return decide_by_score(score, published.cut);
  if (std::isnan(score)) return {Verdict::kUndecided, reasons::kUnscored};
  if (judgement == nullptr) return decide_by_usual_cut(score, published.calibration());
  const auto decision = decide_by_score(judgement->quality, published.cut);
  if (decision.reason != reasons::kCut) return decision;
  return {Verdict::kDrop, reason_of(damage_kinds()[judgement->kind])};
}

Decision decide_by_rule(ReasonCode broken, const Decision& otherwise) {
  return is_rejection(broken) ? Decision{Verdict::kDrop, broken} : otherwise;
}

}  // namespace phsic
