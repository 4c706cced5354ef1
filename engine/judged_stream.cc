#include "engine/judged_stream.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/model.h"
#include "engine/expert_opinion.h"
#include "engine/judge_fit.h"
#include "engine/viewed_model.h"
#include "engine/word_parts.h"

namespace phsic {
namespace {

constexpr double kNoQuality = std::numeric_limits<double>::quiet_NaN();

// How many learned texts it takes until a count weighs half.
double half_life_of(const Forgetting& forgetting) {
  // Spans of time are none of the judge's: what it counts does not fade then.
  switch (forgetting.mode) {
    case Forgetting::Mode::kHalfLifePairs: return forgetting.span;
    case Forgetting::Mode::kWindowPairs: return forgetting.span / 2;
    default: return 0;
  }
}

// The views that count, each with its model, or with the model that its held-back pairs have not
// taught.
std::vector<JudgedView> judged_views(const std::vector<StreamView>& views,
                                     const std::vector<BuiltView>& built, bool is_measured,
                                     std::optional<bool> wants_halves) {
  std::vector<JudgedView> judged;
  for (std::size_t v = 0; v < views.size(); ++v) {
    const auto& model = is_measured ? built[v].measured : built[v].model;
    if (model == nullptr || model->estimator() == nullptr) continue;
    const auto& [name, x, y, has_pivots] = views[v];
    const bool is_cheap = !has_pivots && x.is_additive() && y.is_additive();
    judged.push_back({v, name, x, y, model, wants_halves.value_or(is_cheap)});
  }
  return judged;
}

}  // namespace

class JudgedStream::Frozen : public Refresh {
 public:
  Frozen(const JudgedStream& stream, std::unique_ptr<Refresh> refresh)
      : stream_(*stream.stream_),
        refresh_(std::move(refresh)),
        seed_(stream.seed_),
        by_exchange_(stream.by_exchange_),
        halves_(stream.halves_) {
    if (stream.held_back_.size() < kFewestJudged) return;  // none without a judge
    views_ = stream_.views();
    fluency_ = std::make_shared<const FluencyPair>(*stream.fluency_);
    for (const auto& texts : stream.held_back_) {
      if (!texts.x.empty() && !texts.y.empty()) held_back_.push_back(texts);
    }
    // Few texts: the pairs came as vectors.
    if (held_back_.size() >= kFewestJudged) return;
    held_back_.clear();
    halves_ = false;
    vectors_ = stream_.held_back_vectors();
  }

  void build() override {
    refresh_->build();
    if (views_.empty()) return;
    const auto built = stream_.built(*refresh_);
    JudgeMaterial material;
    material.views = judged_views(views_, built, true, halves_);
    material.fluency = fluency_;
    for (const auto& [x, y] : held_back_) material.pairs.emplace_back(x, y);
    material.vectors = vectors_;
    material.exchanges = by_exchange_;
    material.seed = seed_;
    const auto fitted = fit_judge(material);
    if (fitted == nullptr) return;
    judge_ = std::make_shared<const Judge>(
        ComponentReader(judged_views(views_, built, false, halves_), fitted->reader().fluency(),
                        fitted->reader().norm()),
        fitted->fitted());
  }

  // The judge is no part of it: it decides nothing about what is learned.
  [[nodiscard]] std::string adoption() const override { return refresh_->adoption(); }

 private:
  friend class JudgedStream;

  const ModelStream& stream_;  // outlives its refreshes
  std::unique_ptr<Refresh> refresh_;
  std::uint64_t seed_;
  std::vector<StreamView> views_;
  std::shared_ptr<const FluencyPair> fluency_;
  std::vector<Texts> held_back_;
  VectorPairs vectors_;  // in place of texts
  bool by_exchange_;
  std::optional<bool> halves_;
  std::shared_ptr<const Judge> judge_;  // null: there was too little to fit one
};

JudgedStream::JudgedStream(std::unique_ptr<ModelStream> stream, const StreamSpec& spec)
    : stream_(std::move(stream)),
      seed_(spec.seed),
      by_exchange_(spec.judges_by_exchange),
      halves_(spec.judges_halves),
      reads_vectors_(spec.views.empty() && spec.x_encoder.name == "vectors") {
  if (by_exchange_ && !halves_) halves_ = false;
  if (spec.judges) {
    const Fluency nothing(half_life_of(spec.forgetting));
    fluency_ = std::make_unique<FluencyPair>(FluencyPair{nothing, nothing});
  }
  publish(nullptr);
}

std::shared_ptr<const PublishedModel> JudgedStream::published() const {
  return std::atomic_load(&published_);
}

// The model of the stream, with its judge.
void JudgedStream::publish(std::shared_ptr<const Judge> judge) {
  auto next = std::make_shared<PublishedModel>(*stream_->published());
  next->judge = std::move(judge);
  next->cuts_by_quality = cuts_by_quality_;
  std::atomic_store(&published_, std::shared_ptr<const PublishedModel>(std::move(next)));
}

void JudgedStream::encode(const TextPairs& pairs, Batch& batch) const {
  stream_->encode(pairs, batch);
  batch.x_texts.clear();
  batch.y_texts.clear();
  if (!judges()) return;
  batch.x_texts.assign(pairs.x.begin(), pairs.x.end());
  batch.y_texts.assign(pairs.y.begin(), pairs.y.end());
}

void JudgedStream::take(const DenseRows<float>& x, const DenseRows<float>& y, Batch& batch) const {
  stream_->take(x, y, batch);
  batch.x_texts.clear();
  batch.y_texts.clear();
}

void JudgedStream::score(Batch& batch) const { score_and_judge(published(), batch); }

void JudgedStream::score_and_judge(std::shared_ptr<const PublishedModel> published,
                                   Batch& batch) const {
  batch.keeps_coordinates = published->judge != nullptr;
  stream_->score_by(std::move(published), batch);
  judge(batch);
}

void JudgedStream::judge(Batch& batch) const {
  batch.judgements.clear();
  const auto* judge = batch.published->judge.get();
  if (judge == nullptr || batch.size() == 0) return;
  if (judge->reader().reads_texts() && batch.x_texts.size() != batch.size()) return;
  auto& views = batch.judging.views;
  views.clear();
  for (const auto& view : judge->reader().views()) {
    const auto& of = batch.views.empty() ? batch : batch.views[view.number];
    views.push_back({{of.x.view(), of.y.view()},
                     &of.coordinates,
                     of.own_shares.empty() ? nullptr : of.own_shares.data()});
  }
  batch.judgements.resize(batch.size());
  judge->judge({batch.x_texts, batch.y_texts, views, batch.was_learned}, batch.judgements.data(),
               batch.judging);
  for (const auto& problem : batch.problems) {
    batch.judgements[problem.row] = {kNoQuality, kNoQuality, 0};
  }
}

void JudgedStream::rank(std::string_view x, std::span<const std::string_view> candidates,
                        Batch& batch) const {
  stream_->rank_by(published(), x, candidates, batch);
}

void JudgedStream::rank(const DenseRows<float>& x, const DenseRows<float>& candidates,
                        Batch& batch) const {
  stream_->rank(x, candidates, batch);
  batch.published = published();
}

std::optional<PairExplanation> JudgedStream::explain(std::string_view x, std::string_view y,
                                                     const ExplainQuestion& question) const {
  auto found = stream_->explain(x, y, question);
  if (!found || !found->problem.empty()) return found;
  found->words = explain_words(*stream_, found->published, {x, y}, question);
  const auto published = this->published();
  // Another model is coming into use: nothing is said by this one's judge, nor by its cut.
  if (found->published->number != published->number) {
    auto bare = std::make_shared<PublishedModel>(*found->published);
    bare->cuts_by_quality = published->cuts_by_quality;
    found->published = std::move(bare);
    return found;
  }
  found->published = published;
  if (published->judge == nullptr) return found;
  Batch batch;
  encode({{&x, 1}, {&y, 1}, {}}, batch);
  if (question.was_learned) batch.was_learned.assign(1, 1);
  score_and_judge(published, batch);
  if (batch.judgements.empty()) return found;
  found->judgement = batch.judgements.front();
  found->expert = expert_opinion(*published->judge, batch, question.top);
  return found;
}

std::size_t JudgedStream::learn(const LearnBatch& batch, std::size_t first, bool stops) {
  const auto end = stream_->learn(batch, first, stops);
  if (!judges()) return end;
  const auto is_known = [&](std::size_t i) {
    return batch.x_texts != nullptr && !reads_vectors_ &&
           std::max(batch.x_texts[i].size(), batch.y_texts[i].size()) <= kLongestText;
  };
  for (auto i = first; i < end; ++i) {
    if (is_known(i)) {
      held_back_.push_back({std::string(batch.x_texts[i]), std::string(batch.y_texts[i])});
    } else {
      held_back_.emplace_back();
    }
  }
  for (const auto held_back = stream_->held_back(); held_back_.size() > held_back;) {
    count_words(held_back_.front());
    held_back_.pop_front();
  }
  return end;
}

void JudgedStream::count_words(const Texts& texts) {
  sketch_.read(texts.x, judge_tokenizer());
  fluency_->x.learn(sketch_.words());
  sketch_.read(texts.y, judge_tokenizer());
  fluency_->y.learn(sketch_.words());
}

std::unique_ptr<Refresh> JudgedStream::freeze(Extent extent) {
  auto refresh = stream_->freeze(extent);
  return std::make_unique<Frozen>(*this, std::move(refresh));
}

void JudgedStream::adopt(Refresh& refresh) {
  auto& frozen = dynamic_cast<Frozen&>(refresh);
  stream_->adopt(*frozen.refresh_);
  publish(std::move(frozen.judge_));
}

void JudgedStream::set_cut(std::optional<double> cut) {
  stream_->set_cut(cut);
  publish(published()->judge);
}

void JudgedStream::adopt_again(std::string_view adoption) {
  stream_->adopt_again(adoption);
  publish(published()->judge);
}

void JudgedStream::merge(const StreamStorage& other) {
  const auto* like = dynamic_cast<const JudgedStream*>(&other);
  if (like == nullptr) throw Error("found a stream that counts, expected one with kernels");
  stream_->merge(*like->stream_);
  if (!judges() || !like->judges()) return;
  fluency_->x.merge(like->fluency_->x);
  fluency_->y.merge(like->fluency_->y);
  for (const auto& texts : like->held_back_) count_words(texts);
}

}  // namespace phsic
