#include "engine/kernel_stream.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/recent.h"
#include "engine/parallel.h"

namespace phsic {
namespace {

constexpr std::size_t kChunkPairs = kBlockPairs;

// The first model is built from so many pairs. From then on there is a new one whenever a third
// more has been learned, or an eighth of what counts when the stream forgets, in whole blocks. What
// kind it is of is decided anew whenever twice as much has been learned, or all that counts has
// been renewed.
constexpr std::uint64_t kFirstRefresh = kBlockPairs;

Encoder open_side(const EncoderSpec& spec, const Kernel& kernel, const EncoderPath& path) {
  return kernel.takes_texts() ? Encoder() : Encoder(spec, path);
}

// Both in ascending order of rows; the first problem of a row stays.
void add_encoding_problems(const Encoded& side, std::string_view name,
                           std::vector<PairProblem>& problems) {
  for (const auto& [row, message] : side.problems()) {
    problems.push_back({row, std::string(name) + ": " + message});
  }
}

std::shared_ptr<const Model<float>> empty_model(const Learner<float>& learner) {
  return std::make_shared<const Model<float>>(learner.config().x.items, learner.config().y.items,
                                              nullptr, nullptr, std::nullopt, Calibration(),
                                              ModelFacts());
}

}  // namespace

KernelStream::KernelStream(const StreamSpec& spec, const EncoderPath& path, std::size_t threads)
    : estimator_(spec.estimator),
      x_(open_side(spec.x_encoder, spec.x_kernel, path)),
      y_(spec.y_encoder == spec.x_encoder && !spec.x_kernel.takes_texts() &&
                 !spec.y_kernel.takes_texts()
             ? x_
             : open_side(spec.y_encoder, spec.y_kernel, path)),
      threads_(threads),
      learns_identical_(spec.learns_identical),
      learner_(spec.config(x_.shape(), y_.shape())),
      model_(empty_model(learner_)),
      next_refresh_(kFirstRefresh) {}

void KernelStream::score(const TextPairs& pairs, double* scores,
                         std::vector<PairProblem>& problems) {
  prepare(pairs, scores);
  report(problems);
}

void KernelStream::learn(const TextPairs& pairs, std::vector<PairProblem>& problems) {
  prepare(pairs, nullptr);
  report(problems);
  learn_prepared(pairs);
  if (learner_.accepted() < next_refresh_) return;
  // No model is wanted before the end, but pivots have to keep up.
  if (const auto change = learner_.propose_pivots()) learner_.adopt(*change);
  schedule();
}

void KernelStream::score_then_learn(const TextPairs& pairs, double* scores,
                                    std::vector<PairProblem>& problems) {
  prepare(pairs, scores);
  report(problems);
  learn_prepared(pairs);
  if (learner_.accepted() < next_refresh_) return;
  refresh_model(Learner<float>::Extent::kWithoutHeldBack);
  schedule();
}

std::size_t KernelStream::room() const { return next_refresh_ - learner_.accepted(); }

void KernelStream::finish() { refresh_model(Learner<float>::Extent::kAll); }

void KernelStream::refresh_model(Learner<float>::Extent extent) {
  const bool is_last = extent == Learner<float>::Extent::kAll;
  auto spec = estimator_;
  // A few pairs have few directions to tell from noise.
  const auto accepted = learner_.accepted();
  spec.rank = std::min<std::size_t>(spec.rank, std::max<std::size_t>(32, accepted / 8));
  // Choosing costs several times as much as building, and changes the scale of the scores.
  if (accepted < next_choice_ && !is_last) {
    spec.kind = model_->estimator()->kind();
    if (model_->facts().ridge > 0) spec.ridge = model_->facts().ridge;
  }
  auto refreshed = refresh(Learner<float>(learner_), spec, extent);
  model_ = std::move(refreshed.model);
  if (refreshed.pivots) learner_.adopt(*refreshed.pivots);
  if (accepted >= next_choice_) next_choice_ = accepted + std::min(accepted, effective_pairs());
}

std::uint64_t KernelStream::effective_pairs() const {
  return static_cast<std::uint64_t>(model_->facts().effective_pairs);
}

void KernelStream::schedule() {
  const auto accepted = learner_.accepted();
  auto step = accepted / 3;
  if (learner_.config().forgetting.mode != Forgetting::Mode::kNever && effective_pairs() > 0) {
    step = std::min(step, effective_pairs() / 8);
  }
  next_refresh_ = accepted + std::max(step / kBlockPairs, std::uint64_t{1}) * kBlockPairs;
}

void KernelStream::prepare(const TextPairs& pairs, double* scores) {
  chunks_used_ = (pairs.x.size() + kChunkPairs - 1) / kChunkPairs;
  if (chunks_.size() < chunks_used_) chunks_.resize(chunks_used_);
  for_each_in_parallel(chunks_used_, threads_, [&](std::size_t k) {
    prepare_chunk(pairs, k * kChunkPairs, scores, chunks_[k]);
  });
}

void KernelStream::prepare_chunk(const TextPairs& pairs, std::size_t first, double* scores,
                                 Chunk& chunk) const {
  const auto count = std::min(kChunkPairs, pairs.x.size() - first);
  x_.encode(pairs.x.subspan(first, count), chunk.x);
  y_.encode(pairs.y.subspan(first, count), chunk.y);
  const auto x = chunk.x.view();
  const auto y = chunk.y.view();
  chunk.faults.resize(count);
  if (scores != nullptr) {
    model_->score(x, y, scores + first, chunk.faults.data(), chunk.scratch);
  } else {
    for (std::size_t i = 0; i < count; ++i) {
      const Fault fault_x = inspect(x, i);
      chunk.faults[i] = fault_x != Fault::kNone ? fault_x : inspect(y, i);
    }
  }
  chunk.problems.clear();
  add_encoding_problems(chunk.x, "x", chunk.problems);
  add_encoding_problems(chunk.y, "y", chunk.problems);
  for (std::size_t i = 0; i < count; ++i) {
    const Fault fault = chunk.faults[i];
    if (fault != Fault::kNone) chunk.problems.push_back({i, std::string(describe(fault))});
  }
  std::stable_sort(chunk.problems.begin(), chunk.problems.end(),
                   [](const auto& a, const auto& b) { return a.row < b.row; });
  const auto last = std::unique(chunk.problems.begin(), chunk.problems.end(),
                                [](const auto& a, const auto& b) { return a.row == b.row; });
  chunk.problems.erase(last, chunk.problems.end());
  chunk.usable.assign(count, true);
  for (const auto& problem : chunk.problems) chunk.usable[problem.row] = false;
  for (std::size_t i = 0; !learns_identical_ && i < count; ++i) {
    if (pairs.x[first + i] == pairs.y[first + i]) chunk.usable[i] = false;
  }
  if (scores == nullptr) return;
  for (const auto& problem : chunk.problems) {
    scores[first + problem.row] = std::numeric_limits<double>::quiet_NaN();
  }
}

void KernelStream::learn_prepared(const TextPairs& pairs) {
  for (std::size_t k = 0; k < chunks_used_; ++k) {
    const Chunk& chunk = chunks_[k];
    const auto x = chunk.x.view();
    const auto y = chunk.y.view();
    const auto* times = pairs.times.empty() ? nullptr : pairs.times.data() + k * kChunkPairs;
    const auto& usable = chunk.usable;
    for (auto begin = std::find(usable.begin(), usable.end(), true); begin != usable.end();) {
      const auto end = std::find(begin, usable.end(), false);
      const auto first = static_cast<std::size_t>(begin - usable.begin());
      const auto count = static_cast<std::size_t>(end - begin);
      learner_.learn(slice(x, first, count), slice(y, first, count), nullptr,
                     times == nullptr ? nullptr : times + first, nullptr);
      begin = std::find(end, usable.end(), true);
    }
  }
}

void KernelStream::report(std::vector<PairProblem>& problems) const {
  problems.clear();
  for (std::size_t k = 0; k < chunks_used_; ++k) {
    for (const auto& problem : chunks_[k].problems) {
      problems.push_back({k * kChunkPairs + problem.row, problem.message});
    }
  }
}

void KernelStream::rank(std::string_view x, std::span<const std::string_view> candidates,
                        double* scores, std::vector<PairProblem>& problems) const {
  thread_local Chunk chunk;
  problems.clear();
  x_.encode({&x, 1}, chunk.x);
  y_.encode(candidates, chunk.y);
  chunk.faults.assign(candidates.size(), Fault::kNone);
  model_->score_one_to_many(chunk.x.view(), chunk.y.view(), scores, chunk.faults.data(),
                            chunk.scratch);
  for (const auto& problem : chunk.x.problems()) problems.push_back({kNoRow, problem.message});
  for (const auto& problem : chunk.y.problems()) problems.push_back({problem.row, problem.message});
  for (std::size_t j = 0; j < candidates.size(); ++j) {
    if (chunk.faults[j] != Fault::kNone) {
      problems.push_back({j, std::string(describe(chunk.faults[j]))});
    }
  }
  for (const auto& problem : problems) {
    if (problem.row != kNoRow) scores[problem.row] = std::numeric_limits<double>::quiet_NaN();
  }
}

StreamFacts KernelStream::facts() const {
  StreamFacts facts;
  facts.pairs = learner_.accepted();
  if (const auto* estimator = model_->estimator()) facts.estimator = name_of(estimator->kind());
  facts.ridge = model_->facts().ridge;
  facts.accuracy = model_->facts().accuracy;
  if (model_->estimator() != nullptr) facts.dependence = model_->facts().dependence;
  return facts;
}

}  // namespace phsic
