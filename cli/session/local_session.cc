#include "cli/session/local_session.h"

#include <algorithm>
#include <new>

#include "core/model.h"
#include "core/recent.h"
#include "engine/parallel.h"

namespace phsic {
namespace {

constexpr std::size_t kChunkPairs = kBlockPairs;

}  // namespace

LocalSession::LocalSession(std::unique_ptr<Stream> stream, std::size_t threads)
    : stream_(std::move(stream)), cycle_(*stream_), threads_(threads) {}

template <class Work>
void LocalSession::for_each_chunk(const TextPairs& pairs, const Work& work) {
  chunks_used_ = (pairs.x.size() + kChunkPairs - 1) / kChunkPairs;
  if (chunks_.size() < chunks_used_) chunks_.resize(chunks_used_);
  for_each_in_parallel(chunks_used_, threads_, [&](std::size_t k) {
    const auto first = k * kChunkPairs;
    const auto count = std::min(kChunkPairs, pairs.x.size() - first);
    stream_->encode({pairs.x.subspan(first, count), pairs.y.subspan(first, count), {}}, chunks_[k]);
    work(chunks_[k], first);
  });
}

void LocalSession::score(const TextPairs& pairs, double* scores,
                         std::vector<PairProblem>& problems) {
  for_each_chunk(pairs, [&](Batch& chunk, std::size_t first) {
    stream_->score(chunk);
    std::copy(chunk.scores.begin(), chunk.scores.end(), scores + first);
  });
  report(problems);
}

void LocalSession::learn(const TextPairs& pairs, std::vector<PairProblem>& problems) {
  for_each_chunk(pairs, [](Batch&, std::size_t) {});
  report(problems);
  learn_encoded(pairs);
  if (cycle_.is_due()) stream_->skip_refresh();
}

void LocalSession::score_then_learn(const TextPairs& pairs, double* scores,
                                    std::vector<PairProblem>& problems) {
  if (auto* const counter = stream_->counter()) {
    for_each_chunk(pairs, [](Batch&, std::size_t) {});
    for (std::size_t k = 0; k < chunks_used_; ++k) {
      auto& chunk = chunks_[k];
      const auto first = k * kChunkPairs;
      const auto* times = pairs.times.empty() ? nullptr : pairs.times.data() + first;
      if (counter->score_and_learn(chunk, times) < chunk.size()) throw std::bad_alloc();
      std::copy(chunk.scores.begin(), chunk.scores.end(), scores + first);
    }
    report(problems);
    return;
  }
  score(pairs, scores, problems);
  learn_encoded(pairs);
  if (cycle_.is_due()) cycle_.refresh(PairExtent::kWithoutHeldBack);
}

void LocalSession::learn_and_refresh(const TextPairs& pairs, std::vector<PairProblem>& problems) {
  for_each_chunk(pairs, [](Batch&, std::size_t) {});
  report(problems);
  learn_encoded(pairs);
  if (cycle_.is_due()) cycle_.refresh(PairExtent::kWithoutHeldBack);
}

void LocalSession::learn_encoded(const TextPairs& pairs) {
  for (std::size_t k = 0; k < chunks_used_; ++k) {
    const auto& chunk = chunks_[k];
    const auto x = chunk.x.view();
    const auto y = chunk.y.view();
    const auto* times = pairs.times.empty() ? nullptr : pairs.times.data() + k * kChunkPairs;
    const auto& usable = chunk.usable;
    for (auto begin = std::find(usable.begin(), usable.end(), true); begin != usable.end();) {
      const auto end = std::find(begin, usable.end(), false);
      const auto first = static_cast<std::size_t>(begin - usable.begin());
      const auto count = static_cast<std::size_t>(end - begin);
      LearnBatch learn_batch;
      learn_batch.x = slice(x, first, count);
      learn_batch.y = slice(y, first, count);
      if (times != nullptr) learn_batch.times = times + first;
      stream_->learn(learn_batch, 0, false);
      begin = std::find(end, usable.end(), true);
    }
  }
}

void LocalSession::report(std::vector<PairProblem>& problems) const {
  problems.clear();
  for (std::size_t k = 0; k < chunks_used_; ++k) {
    for (const auto& problem : chunks_[k].problems) {
      problems.push_back({k * kChunkPairs + problem.row, problem.message});
    }
  }
}

void LocalSession::rank(std::string_view x, std::span<const std::string_view> candidates,
                        double* scores, std::vector<PairProblem>& problems) const {
  thread_local Batch batch;
  stream_->rank(x, candidates, batch);
  std::copy(batch.scores.begin(), batch.scores.end(), scores);
  problems = batch.problems;
}

StreamFacts LocalSession::facts() const {
  StreamFacts facts;
  facts.pairs = stream_->pairs();
  facts.clipped = stream_->clipped();
  const auto published = stream_->published();
  if (published->model == nullptr) {
    facts.estimator = "pmi";
  } else if (const auto* estimator = published->model->estimator()) {
    facts.estimator = name_of(estimator->kind());
    facts.ridge = published->model->facts().ridge;
    facts.accuracy = published->model->facts().accuracy;
    facts.dependence = published->model->facts().dependence;
  }
  return facts;
}

}  // namespace phsic
