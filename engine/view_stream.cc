#include "engine/view_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "core/error.h"
#include "core/model.h"
#include "engine/parallel.h"
#include "engine/view_explanation.h"
#include "engine/view_refresh.h"
#include "engine/view_scores.h"

namespace phsic {
namespace {

// So many times the held-back pairs are remembered: views that see few of the pairs hold back older
// ones than the others.
constexpr std::size_t kTimesHeldBack = 4;

// Fewer pairs than this are not worth another thread.
constexpr std::size_t kFewestInParallel = 64;

std::size_t thread_count(std::size_t pairs) {
  return pairs < kFewestInParallel ? 1 : std::max(1U, std::thread::hardware_concurrency());
}

}  // namespace

ViewStream::ViewStream(const StreamSpec& spec, const EncoderPath& path)
    : forgets_(spec.forgetting.mode != Forgetting::Mode::kNever),
      sightings_(kTimesHeldBack * spec.held_back),
      schedule_(spec.refresh_pairs) {
  for (std::size_t v = 0; v < spec.views.size(); ++v) {
    names_.push_back(spec.views[v].name);
    views_.push_back(std::make_unique<KernelStream>(spec.of_view(v), path));
  }
  for (std::size_t v = 0; v < views_.size(); ++v) {
    for (std::size_t other = 0; other < v; ++other) {
      if (views_[v]->identity() != views_[other]->identity()) continue;
      if (spec.of_view(v).estimator != spec.of_view(other).estimator) continue;
      throw Error(fmt::format(
          "views: found {} and {}, which are the same, expected another encoder, kernel or "
          "estimator for each",
          names_[other], names_[v]));
    }
  }
  accepted_.resize(views_.size());
  auto first = std::make_shared<ViewedModel>();
  first->names = names_;
  for (const auto& view : views_) first->parts.push_back(view->published());
  first->blend = Blend(std::vector<Blend::Part>(views_.size()));
  PublishedModel published;
  published.viewed = std::move(first);
  published_ = std::make_shared<const PublishedModel>(std::move(published));
}

std::shared_ptr<const PublishedModel> ViewStream::published() const {
  return std::atomic_load(&published_);
}

void ViewStream::encode(const TextPairs& pairs, Batch& batch) const {
  batch.views.resize(views_.size());
  for (std::size_t v = 0; v < views_.size(); ++v) views_[v]->encode(pairs, batch.views[v]);
  mark_seen(batch);
  batch.was_learned.clear();
  batch.unasked.clear();
  batch.asked = 0;
}

void ViewStream::take(const DenseRows<float>& /*x*/, const DenseRows<float>& /*y*/,
                      Batch& /*batch*/) const {
  throw Error("found vectors, expected texts: the stream has several views");
}

std::vector<StreamView> ViewStream::views() const {
  std::vector<StreamView> views;
  for (std::size_t v = 0; v < views_.size(); ++v) {
    views.push_back(views_[v]->views().front());
    views.back().name = names_[v];
  }
  return views;
}

std::vector<BuiltView> ViewStream::built(const Refresh& refresh) const {
  const auto& frozen = dynamic_cast<const Frozen&>(refresh);
  std::vector<BuiltView> views(views_.size());
  for (std::size_t v = 0; v < views_.size(); ++v) {
    const auto& part = frozen.parts_[v];
    const bool counts = part.problem.empty() && frozen.model_.blend.parts()[v].weight > 0;
    if (counts) views[v] = views_[v]->built(*part.frozen).front();
  }
  return views;
}

void ViewStream::score(Batch& batch) const { score_by(published(), batch); }

void ViewStream::score_by(std::shared_ptr<const PublishedModel> published, Batch& batch) const {
  batch.published = std::move(published);
  const auto& viewed = *batch.published->viewed;
  batch.asked = 0;
  const auto ask = [&](std::size_t v) {
    batch.views[v].was_learned = batch.was_learned;
    batch.views[v].keeps_coordinates = batch.keeps_coordinates;
    views_[v]->score_by(viewed.parts[v], batch.views[v]);
    batch.asked |= bit_of(v);
  };
  for (std::size_t v = 0; v < views_.size(); ++v) {
    if (viewed.blend.parts()[v].weight > 0) ask(v);
  }
  for (const auto v : viewed.others) {
    bool is_wanted = false;
    for (std::size_t i = 0; i < batch.size() && !is_wanted; ++i) {
      is_wanted = (batch.seen[i] & bit_of(v)) != 0 && is_open(batch, i);
    }
    if (is_wanted) ask(v);
  }
  blend_scores(batch);
}

void ViewStream::rank(std::string_view x, std::span<const std::string_view> candidates,
                      Batch& batch) const {
  rank_by(published(), x, candidates, batch);
}

void ViewStream::rank_by(std::shared_ptr<const PublishedModel> published, std::string_view x,
                         std::span<const std::string_view> candidates, Batch& batch) const {
  batch.published = std::move(published);
  batch.views.resize(views_.size());
  const auto& viewed = *batch.published->viewed;
  batch.asked = 0;
  batch.seen.assign(candidates.size(), 0);
  const auto ask = [&](std::size_t v) {
    views_[v]->rank_by(viewed.parts[v], x, candidates, batch.views[v]);
    mark_candidates(v, candidates.size(), batch);
  };
  for (std::size_t v = 0; v < views_.size(); ++v) {
    if (viewed.asks(v)) ask(v);
  }
  for (const auto v : viewed.others) {
    bool is_wanted = false;
    for (std::size_t j = 0; j < candidates.size() && !is_wanted; ++j) is_wanted = is_open(batch, j);
    if (is_wanted) ask(v);
  }
  blend_candidates(batch, candidates.size());
}

void ViewStream::rank(const DenseRows<float>& x, const DenseRows<float>& candidates,
                      Batch& batch) const {
  take(x, candidates, batch);
}

// What one view can read of the rows, in runs.
void ViewStream::learn_rows(const LearnBatch& batch, std::size_t first, std::size_t count,
                            std::size_t view, std::uint8_t* accepted) {
  const auto bit = bit_of(view);
  const auto reads = [&](std::size_t i) {
    return batch.readable == nullptr || (batch.readable[i] & bit) != 0;
  };
  const auto end = first + count;
  for (std::size_t i = first; i < end;) {
    if (!reads(i)) {
      ++i;
      continue;
    }
    auto last = i;
    while (last < end && reads(last)) ++last;
    LearnBatch run;
    run.x = slice(batch.views[view].x, i, last - i);
    run.y = slice(batch.views[view].y, i, last - i);
    if (batch.times != nullptr) run.times = batch.times + i;
    if (batch.x_texts != nullptr) {
      run.x_texts = batch.x_texts + i;
      run.explains = batch.explains;
      run.y_texts = batch.y_texts + i;
    }
    views_[view]->learn(run, 0, false);
    const auto& faults = views_[view]->faults();
    for (std::size_t k = 0; k < last - i; ++k) {
      accepted[i - first + k] = faults[k] == Fault::kNone ? 1 : 0;
    }
    i = last;
  }
}

std::size_t ViewStream::learn(const LearnBatch& batch, std::size_t first, bool stops) {
  const auto left = batch.size() - first;
  const auto count = stops ? std::min(left, until_refresh()) : left;
  if (count == 0) return first;
  for_each_in_parallel(views_.size(), thread_count(count), [&](std::size_t v) {
    accepted_[v].assign(count, 0);
    learn_rows(batch, first, count, v, accepted_[v].data());
  });
  for (std::size_t i = 0; i < count; ++i) {
    std::uint8_t seen = 0;
    for (std::size_t v = 0; v < views_.size(); ++v) {
      if (accepted_[v][i] != 0) seen |= bit_of(v);
    }
    if (seen == 0) continue;
    ++pairs_;
    sightings_.add(seen);
  }
  return first + count;
}

bool ViewStream::is_measurable() const {
  return std::any_of(views_.begin(), views_.end(),
                     [](const auto& view) { return view->is_measurable(); });
}

std::unique_ptr<Refresh> ViewStream::freeze(Extent extent) {
  std::unique_ptr<Refresh> frozen;
  try {
    frozen = std::make_unique<Frozen>(*this, extent);
  } catch (...) {
    // The next model is due as if this one had been given up.
    freeze_again(extent);
    throw;
  }
  if (extent != Extent::kAll) schedule();
  return frozen;
}

void ViewStream::schedule() {
  double effective = 0;
  for (const auto& view : views_) effective = std::max(effective, view->effective_pairs());
  schedule_.move_on(pairs_, effective, forgets_);
}

void ViewStream::adopt(Refresh& refresh) {
  auto& frozen = dynamic_cast<Frozen&>(refresh);
  const std::lock_guard lock(adopting_);
  auto model = std::make_shared<ViewedModel>(std::move(frozen.model_));
  model->names = names_;
  for (std::size_t v = 0; v < views_.size(); ++v) {
    const auto& part = frozen.parts_[v];
    if (part.problem.empty()) views_[v]->adopt(*part.frozen);
    model->parts.push_back(views_[v]->published());
  }
  model->find_others();
  blend_ = frozen.chosen_;
  PublishedModel next;
  next.number = published()->number + 1;
  next.is_whole = frozen.extent_ == Extent::kAll;
  next.seconds = frozen.seconds_;
  if (choose_cut_) next.cut = choose_cut_(model->calibration);
  next.viewed = std::move(model);
  publish(std::move(next));
}

void ViewStream::publish(PublishedModel published) {
  std::atomic_store(&published_, std::shared_ptr<const PublishedModel>(
                                     std::make_shared<const PublishedModel>(std::move(published))));
}

void ViewStream::set_cut(std::optional<double> cut) {
  auto next = *published();
  next.cut = cut;
  publish(std::move(next));
}

bool ViewStream::refresh_every(std::uint64_t pairs) {
  if (!schedule_.set(pairs)) return false;
  schedule();
  return true;
}

void ViewStream::will_judge_learned() {
  for (const auto& view : views_) view->will_judge_learned();
}

std::size_t ViewStream::held_back() const {
  std::vector<std::size_t> counts;
  for (const auto& view : views_) counts.push_back(view->held_back());
  return sightings_.count_held_back(std::move(counts));
}

void ViewStream::skip_refresh() {
  for (const auto& view : views_) view->skip_refresh();
  schedule();
}

std::uint64_t ViewStream::clipped() const {
  std::uint64_t sum = 0;
  for (const auto& view : views_) sum += view->clipped();
  return sum;
}

std::optional<PairExplanation> ViewStream::explain(std::string_view x, std::string_view y,
                                                   const ExplainQuestion& question) const {
  Batch batch;
  encode({{&x, 1}, {&y, 1}, {}}, batch);
  const std::lock_guard lock(adopting_);
  auto published = this->published();
  const auto& viewed = *published->viewed;
  if (!viewed.has_say()) return std::nullopt;
  std::vector<std::optional<PairExplanation>> views;
  views.reserve(views_.size());
  for (const auto& view : views_) views.push_back(view->explain(x, y, question));
  auto whole = blend_explanations(viewed, views, batch.seen[0], question.top);
  if (whole) whole->published = std::move(published);
  return whole;
}

}  // namespace phsic
