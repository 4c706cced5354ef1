#include "engine/kernel_stream.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/kernel_refresh.h"
#include "text/cut_text.h"

namespace phsic {
namespace {

// What a pair that was learned has added to the sums can be taken out of its score
// (core/own_share.h), but not its part in the choice of directions. So a model that judges such
// pairs has all directions, where nobody has said how many and there are no more than this.
constexpr std::size_t kMostDirections = 2048;

bool has_default_rank(const EstimatorSpec& spec) {
  return spec.rank == kDefaultRank && !spec.phsic_at_rank;
}

Encoder open_side(const StreamSpec& spec, const EncoderSpec& encoder, const Kernel& kernel,
                  const EncoderPath& path) {
  return kernel.takes_texts() ? Encoder(spec.text_bytes) : Encoder(encoder, path);
}

void add_encoding_problems(const Encoded& side, std::string_view name,
                           std::vector<PairProblem>& problems) {
  for (const auto& [row, message] : side.problems()) {
    problems.push_back({row, std::string(name) + ": " + message});
  }
}

// Ascending, and the first problem of a row only.
void put_in_order(std::vector<PairProblem>& problems) {
  std::stable_sort(problems.begin(), problems.end(),
                   [](const auto& a, const auto& b) { return a.row < b.row; });
  const auto last = std::unique(problems.begin(), problems.end(),
                                [](const auto& a, const auto& b) { return a.row == b.row; });
  problems.erase(last, problems.end());
}

// What encoding has found, and what the items themselves show.
void find_problems(Batch& batch) {
  const auto x = batch.x.view();
  const auto y = batch.y.view();
  batch.problems.clear();
  batch.was_learned.clear();
  batch.usable.assign(batch.size(), true);
  add_encoding_problems(batch.x, "x", batch.problems);
  add_encoding_problems(batch.y, "y", batch.problems);
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const Fault fault_x = inspect(x, i);
    const Fault fault = fault_x != Fault::kNone ? fault_x : inspect(y, i);
    if (fault != Fault::kNone) batch.problems.push_back({i, std::string(describe(fault))});
  }
  put_in_order(batch.problems);
  for (const auto& problem : batch.problems) batch.usable[problem.row] = false;
}

std::shared_ptr<const Model<float>> empty_model(const Learner<float>& learner) {
  return std::make_shared<const Model<float>>(learner.config().x.items, learner.config().y.items,
                                              nullptr, nullptr, std::nullopt, Calibration(),
                                              ModelFacts());
}

// The weight of all pairs in the moments of a model of a stream that does not forget: each
// weighs 1. Moments that were carried over to new pivots count for fewer effective pairs than they
// weigh.
double weight_of(const PublishedModel& published) {
  const auto& facts = published.model->facts();
  const auto pairs = static_cast<double>(facts.pairs);
  return published.is_whole ? pairs : std::max(facts.effective_pairs, (1 - kHeldBackShare) * pairs);
}

}  // namespace

KernelStream::KernelStream(const StreamSpec& spec, const EncoderPath& path)
    : estimator_(spec.estimator),
      x_(open_side(spec, spec.x_encoder, spec.x_kernel, path)),
      y_(spec.y_encoder == spec.x_encoder && !spec.x_kernel.takes_texts() &&
                 !spec.y_kernel.takes_texts()
             ? x_
             : open_side(spec, spec.y_encoder, spec.y_kernel, path)),
      learns_identical_(spec.learns_identical),
      forgets_(spec.forgetting.mode != Forgetting::Mode::kNever),
      learner_(spec.config(x_.shape(), y_.shape())),
      schedule_(spec.refresh_pairs) {
  PublishedModel first;
  first.model = empty_model(learner_);
  published_ = std::make_shared<const PublishedModel>(std::move(first));
}

std::shared_ptr<const PublishedModel> KernelStream::published() const {
  return std::atomic_load(&published_);
}

void KernelStream::encode(const TextPairs& pairs, Batch& batch) const {
  x_.encode(pairs.x, batch.x);
  y_.encode(pairs.y, batch.y);
  find_problems(batch);
  for (std::size_t i = 0; !learns_identical_ && i < pairs.x.size(); ++i) {
    if (pairs.x[i] == pairs.y[i]) batch.usable[i] = false;
  }
}

void KernelStream::take(const DenseRows<float>& x, const DenseRows<float>& y, Batch& batch) const {
  batch.x.take(x);
  batch.y.take(y);
  find_problems(batch);
}

// The share of each pair of the batch in what the model in use has learned; null: none is known.
const double* KernelStream::own_shares(Batch& batch) const {
  batch.own_shares.clear();
  if (batch.was_learned.size() != batch.size() || forgets_) return nullptr;
  const auto weight = weight_of(*batch.published);
  if (weight == 0) return nullptr;
  batch.own_shares.resize(batch.size());
  std::transform(batch.was_learned.begin(), batch.was_learned.end(), batch.own_shares.begin(),
                 [weight](std::uint8_t times) { return times / weight; });
  return batch.own_shares.data();
}

std::vector<StreamView> KernelStream::views() const {
  const auto& config = learner_.config();
  return {{"", x_, y_, config.x.pivots > 0 || config.y.pivots > 0}};
}

std::vector<BuiltView> KernelStream::built(const Refresh& refresh) const {
  const auto& frozen = dynamic_cast<const Frozen&>(refresh);
  const auto& model = frozen.refreshed_.model;
  if (!frozen.refreshed_.measured) return {{model, model}};
  return {{model,
           std::make_shared<const Model<float>>(
               model->shape_x(), model->shape_y(), frozen.refreshed_.map_x, frozen.refreshed_.map_y,
               *frozen.refreshed_.measured, Calibration(), model->facts())}};
}

VectorPairs KernelStream::held_back_vectors() const {
  const auto is_vector = [](const Encoder& encoder) {
    return encoder.shape().kind == ItemKind::kDense;
  };
  if (!is_vector(x_) || !is_vector(y_)) return VectorPairs();
  return {learner_.held_back_x(), learner_.held_back_y()};
}

void KernelStream::score(Batch& batch) const { score_by(published(), batch); }

void KernelStream::score_by(std::shared_ptr<const PublishedModel> published, Batch& batch) const {
  batch.published = std::move(published);
  batch.scores.resize(batch.size());
  batch.faults.resize(batch.size());
  batch.published->model->score(batch.x.view(), batch.y.view(), batch.scores.data(),
                                batch.faults.data(), batch.scratch, own_shares(batch),
                                batch.keeps_coordinates ? &batch.coordinates : nullptr);
  const auto known = batch.problems.size();
  for (std::size_t i = 0; i < batch.size(); ++i) {
    // A kernel of sound items may still overflow.
    if (batch.faults[i] == Fault::kNone || !batch.usable[i]) continue;
    batch.problems.push_back({i, std::string(describe(batch.faults[i]))});
    batch.usable[i] = false;
  }
  if (batch.problems.size() > known) put_in_order(batch.problems);
  for (const auto& problem : batch.problems) {
    batch.scores[problem.row] = std::numeric_limits<double>::quiet_NaN();
  }
}

void KernelStream::rank(std::string_view x, std::span<const std::string_view> candidates,
                        Batch& batch) const {
  rank_by(published(), x, candidates, batch);
}

void KernelStream::rank_by(std::shared_ptr<const PublishedModel> published, std::string_view x,
                           std::span<const std::string_view> candidates, Batch& batch) const {
  x_.encode({&x, 1}, batch.x);
  y_.encode(candidates, batch.y);
  rank_encoded(std::move(published), batch);
}

void KernelStream::rank(const DenseRows<float>& x, const DenseRows<float>& candidates,
                        Batch& batch) const {
  batch.x.take(x);
  batch.y.take(candidates);
  rank_encoded(published(), batch);
}

void KernelStream::rank_encoded(std::shared_ptr<const PublishedModel> published,
                                Batch& batch) const {
  batch.published = std::move(published);
  batch.problems.clear();
  batch.scores.resize(batch.size());
  batch.faults.assign(batch.size(), Fault::kNone);
  batch.published->model->score_one_to_many(batch.x.view(), batch.y.view(), batch.scores.data(),
                                            batch.faults.data(), batch.scratch);
  for (const auto& problem : batch.x.problems())
    batch.problems.push_back({PairProblem::kNoRow, problem.message});
  for (const auto& problem : batch.y.problems()) {
    batch.problems.push_back({problem.row, problem.message});
  }
  for (std::size_t j = 0; j < batch.size(); ++j) {
    if (batch.faults[j] != Fault::kNone) {
      batch.problems.push_back({j, std::string(describe(batch.faults[j]))});
    }
  }
  put_in_order(batch.problems);
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  // Nothing can be said of candidates for an x that nobody can read.
  if (!batch.x.problems().empty()) std::fill(batch.scores.begin(), batch.scores.end(), kNan);
  for (const auto& problem : batch.problems) {
    if (problem.row != PairProblem::kNoRow) batch.scores[problem.row] = kNan;
  }
}

std::size_t KernelStream::learn(const LearnBatch& batch, std::size_t first, bool stops) {
  const auto left = batch.size() - first;
  const auto count = stops ? std::min(left, until_refresh()) : left;
  if (count == 0) return first;
  auto number = learner_.next_number();
  faults_.resize(count);
  learner_.learn(slice(batch.x, first, count), slice(batch.y, first, count), nullptr,
                 batch.times == nullptr ? nullptr : batch.times + first, faults_.data());
  for (std::size_t i = 0; batch.x_texts != nullptr && batch.explains && i < count; ++i) {
    if (faults_[i] != Fault::kNone) continue;
    texts_.add(number++, batch.x_texts[first + i], batch.y_texts[first + i]);
  }
  if (texts_.is_crowded()) texts_.keep_only(learner_.kept_numbers());
  return first + count;
}

std::size_t KernelStream::until_refresh() const { return schedule_.until(learner_.accepted()); }

bool KernelStream::is_measurable() const { return learner_.accepted() >= kFewestMeasured; }

// Choosing costs several times as much as building, and changes the scale of the scores.
EstimatorSpec KernelStream::next_estimator(Extent extent) const {
  auto spec = estimator_;
  // A few pairs have few directions to tell from noise.
  const auto accepted = learner_.accepted();
  const auto directions = std::min(x_.shape().dim, y_.shape().dim);
  if (judges_learned_ && has_default_rank(spec) && directions <= kMostDirections) {
    spec.rank = 0;
  }
  spec.rank = std::min<std::size_t>(spec.rank, std::max<std::size_t>(32, accepted / 8));
  // The kind chosen before a restart may differ from the one that is asked for now.
  const bool may_be_chosen = chosen_ && spec.kind.value_or(chosen_->kind) == chosen_->kind;
  const bool is_last = extent == Extent::kAll || judges_learned_;
  if (accepted < next_choice_ && !is_last && may_be_chosen) {
    spec.kind = chosen_->kind;
    if (chosen_->ridge > 0) spec.ridge = spec.ridge.value_or(chosen_->ridge);
  }
  return spec;
}

void KernelStream::note_refresh(Extent extent) {
  const auto accepted = learner_.accepted();
  // The kind is chosen anew whenever twice as much has been learned, or all that counts has been
  // renewed.
  if (accepted >= next_choice_) {
    next_choice_ =
        accepted + std::min(accepted, static_cast<std::uint64_t>(learner_.effective_pairs()));
  }
  if (extent != Extent::kAll) schedule();
}

std::unique_ptr<Refresh> KernelStream::freeze(Extent extent) {
  const auto spec = next_estimator(extent);
  note_refresh(extent);
  auto ground = std::make_shared<Ground>();
  if (texts_.size() > 0) {
    ground->sample = learner_.sample_with_recent(extent);
    ground->texts = texts_;
  }
  return std::make_unique<Frozen>(learner_, spec, extent, std::move(ground));
}

void KernelStream::adopt(Refresh& refresh) {
  auto& frozen = dynamic_cast<Frozen&>(refresh);
  if (frozen.refreshed_.pivots) learner_.adopt(*frozen.refreshed_.pivots);
  chosen_ = frozen.chosen();
  PublishedModel next;
  next.number = published()->number + 1;
  next.model = std::move(frozen.refreshed_.model);
  next.is_whole = frozen.extent_ == Extent::kAll;
  next.seconds = frozen.seconds_;
  if (choose_cut_) next.cut = choose_cut_(next.model->calibration());
  publish(std::move(next), std::move(frozen.ground_));
}

void KernelStream::publish(PublishedModel published, std::shared_ptr<Ground> ground) {
  auto shared = std::make_shared<const PublishedModel>(std::move(published));
  ground->published = shared;
  {
    const std::lock_guard lock(explaining_);
    ground_ = std::move(ground);
  }
  std::atomic_store(&published_, std::move(shared));
}

void KernelStream::set_cut(std::optional<double> cut) {
  auto next = std::make_shared<PublishedModel>(*published());
  next->cut = cut;
  const std::shared_ptr<const PublishedModel> shared = std::move(next);
  {
    const std::lock_guard lock(explaining_);
    if (ground_ != nullptr) ground_->published = shared;
  }
  std::atomic_store(&published_, shared);
}

bool KernelStream::refresh_every(std::uint64_t pairs) {
  if (!schedule_.set(pairs)) return false;
  schedule();
  return true;
}

void KernelStream::skip_refresh() {
  if (const auto change = learner_.propose_pivots()) learner_.adopt(*change);
  schedule();
}

void KernelStream::schedule() {
  schedule_.move_on(learner_.accepted(), learner_.effective_pairs(), forgets_);
}

// Takes what the one pair of the batch has taught out of its score, and the pair itself out of
// those that contribute. Nothing, where nobody knows how much it has taught.
void KernelStream::take_own_part_out(Batch& batch, const Ground& ground,
                                     std::vector<double>& contributions,
                                     PairExplanation& from) const {
  batch.was_learned = {1};
  score_by(ground.published, batch);
  if (own_shares(batch) == nullptr || !batch.problems.empty()) return;
  from.own_share = from.score - batch.scores.front();
  from.score = batch.scores.front();
  const auto x = text::cut_text(batch.x_texts.front(), SampledTexts::kLongest);
  const auto y = text::cut_text(batch.y_texts.front(), SampledTexts::kLongest);
  for (std::size_t i = 0; i < contributions.size(); ++i) {
    const auto texts = ground.texts.find(ground.sample.sequences[i]);
    // What is not a number is none of the strongest.
    if (texts == std::pair(x, y)) contributions[i] = std::numeric_limits<double>::quiet_NaN();
  }
}

std::optional<PairExplanation> KernelStream::explain(std::string_view x, std::string_view y,
                                                     const ExplainQuestion& question) const {
  Batch batch;
  encode({{&x, 1}, {&y, 1}, {}}, batch);
  const std::lock_guard lock(explaining_);
  if (ground_ == nullptr || ground_->sample.weights.empty()) return std::nullopt;
  auto& ground = *ground_;
  if (!ground.explainer) {
    ground.explainer.emplace(ground.published->model, ground.sample);
    // The explainer has its own copy of what it needs.
    ground.sample.x.clear();
    ground.sample.y.clear();
  }
  PairExplanation result;
  result.published = ground.published;
  if (!batch.problems.empty()) {
    result.problem = batch.problems.front().message;
    return result;
  }
  std::vector<double> contributions(ground.explainer->size());
  const auto found = ground.explainer->explain(batch.x.view(), batch.y.view(), contributions.data(),
                                               batch.scratch);
  if (found.fault != Fault::kNone) {
    result.problem = describe(found.fault);
    return result;
  }
  result.score = found.score;
  result.rest = found.rest;
  batch.x_texts = {x};
  batch.y_texts = {y};
  if (question.was_learned) take_own_part_out(batch, ground, contributions, result);
  const auto part = [&](std::size_t place) {
    PairExplanation::Part one;
    one.contribution = contributions[place];
    one.number = ground.sample.sequences[place];
    if (const auto texts = ground.texts.find(one.number)) {
      one.x = texts->first;
      one.y = texts->second;
    }
    return one;
  };
  const auto pairs = strongest(contributions, question.top);
  for (const auto place : pairs.raising) result.raise.push_back(part(place));
  for (const auto place : pairs.lowering) result.lower.push_back(part(place));
  return result;
}

}  // namespace phsic
