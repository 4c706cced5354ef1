#include "cli/session/local_session.h"

#include <algorithm>
#include <new>
#include <utility>

#include "core/model.h"
#include "core/recent.h"
#include "engine/parallel.h"
#include "engine/view_scores.h"

namespace phsic {
namespace {

constexpr std::size_t kChunkPairs = kBlockPairs;

}  // namespace

LocalSession::LocalSession(std::unique_ptr<Stream> stream, DecisionMemory memory,
                           std::size_t threads, LearnedPairs learned)
    : stream_(std::move(stream)),
      memory_(std::move(memory)),
      learned_(std::move(learned)),
      cycle_(*stream_),
      threads_(threads) {
  stream_->cut_by_quality(memory_.plan().cut.kind == CutSpec::Kind::kQuality);
  stream_->choose_cuts(
      [this](const Calibration& calibration) { return memory_.choose_cut(calibration); });
  // Counts are a model from the first pair on.
  if (stream_->counter() != nullptr && !memory_.has_cut()) {
    static_cast<void>(memory_.choose_cut(Calibration()));
  }
  if (memory_.has_cut()) stream_->set_cut(memory_.cut());
}

void LocalSession::set_own_share(bool is_kept) {
  notes_learned_ = true;
  discounts_ = !is_kept;
}

template <class Work>
void LocalSession::for_each_chunk(const TextPairs& pairs, Keys keys, const Work& work) {
  chunks_used_ = (pairs.x.size() + kChunkPairs - 1) / kChunkPairs;
  if (chunks_.size() < chunks_used_) chunks_.resize(chunks_used_);
  const auto& profile = *memory_.profile();
  const auto& rules = memory_.plan().rules;
  for_each_in_parallel(chunks_used_, threads_, [&](std::size_t k) {
    auto& chunk = chunks_[k];
    const auto first = k * kChunkPairs;
    const auto count = std::min(kChunkPairs, pairs.x.size() - first);
    const TextPairs part{pairs.x.subspan(first, count), pairs.y.subspan(first, count), {}};
    stream_->encode(part, chunk.batch);
    chunk.broken.resize(count);
    for (std::size_t i = 0; i < count; ++i) {
      chunk.broken[i] = broken_rule(rules, part.x[i], part.y[i], &profile, chunk.rule_scratch);
    }
    chunk.keys.clear();
    if (keys == Keys::kAll) find_keys(part, chunk);
    work(chunk, first);
  });
}

void LocalSession::find_keys(const TextPairs& pairs, Chunk& chunk) const {
  chunk.keys.reserve(pairs.x.size());
  for (std::size_t i = 0; i < pairs.x.size(); ++i) {
    chunk.keys.push_back(key_of(pairs.x[i], pairs.y[i], chunk.key_scratch));
  }
}

void LocalSession::score(const TextPairs& pairs, PairResults& results) {
  results.reset(pairs.x.size());
  const bool has_learned = discounts_ && learned_.size() > 0;
  for_each_chunk(pairs, has_learned ? Keys::kAll : Keys::kNone,
                 [&](Chunk& chunk, std::size_t first) {
                   auto& batch = chunk.batch;
                   batch.was_learned.clear();
                   for (const auto& key : chunk.keys)
                     batch.was_learned.push_back(learned_.contains(key));
                   stream_->score(batch);
                   for (std::size_t i = 0; i < batch.size(); ++i) {
                     results.set(first + i, batch.scores[i], batch.published->calibration());
                     if (!batch.judgements.empty()) results.set(first + i, batch.judgements[i]);
                     results.decisions[first + i] = decide_by_rule(
                         chunk.broken[i],
                         decide_by_model(*batch.published, batch.scores[i], batch.judgement(i)));
                   }
                 });
  report(results.problems);
  report_left_out(results);
  watch_views(false);
}

void LocalSession::learn(const TextPairs& pairs, std::vector<PairProblem>& problems) {
  learn_all(pairs, problems);
  if (cycle_.is_due()) stream_->skip_refresh();
}

void LocalSession::learn_and_refresh(const TextPairs& pairs, std::vector<PairProblem>& problems) {
  learn_all(pairs, problems);
  if (cycle_.is_due()) cycle_.refresh(PairExtent::kWithoutHeldBack);
}

void LocalSession::watch_views(bool learns) {
  has_taught_ = has_taught_ || learns;
  if (has_taught_ && !learns) return;
  for (std::size_t k = 0; k < chunks_used_; ++k) blind_views_.add(chunks_[k].batch);
}

void LocalSession::learn_all(const TextPairs& pairs, std::vector<PairProblem>& problems) {
  for_each_chunk(pairs, Keys::kAll, [](Chunk&, std::size_t) {});
  watch_views(true);
  report(problems);
  // What is only taught is kept unless there is something against it, as in a daemon.
  constexpr Decision kTaught{Verdict::kKeep, reasons::kNone};
  for (std::size_t i = 0; i < pairs.x.size(); ++i) {
    static_cast<void>(settle(pairs, i / kChunkPairs, i % kChunkPairs, kTaught));
  }
  learn_encoded(pairs);
}

void LocalSession::score_then_learn(const TextPairs& pairs, PairResults& results) {
  results.reset(pairs.x.size());
  if (stream_->counter() != nullptr) {
    score_and_count(pairs, results);
    return;
  }
  for_each_chunk(pairs, Keys::kAll, [&](Chunk& chunk, std::size_t first) {
    auto& batch = chunk.batch;
    batch.was_learned.clear();
    stream_->score(batch);
    for (std::size_t i = 0; i < batch.size(); ++i) {
      results.set(first + i, batch.scores[i], batch.published->calibration());
      if (!batch.judgements.empty()) results.set(first + i, batch.judgements[i]);
      results.decisions[first + i] =
          decide_by_model(*batch.published, batch.scores[i], batch.judgement(i));
    }
  });
  report(results.problems);
  report_left_out(results);
  watch_views(true);
  for (std::size_t i = 0; i < pairs.x.size(); ++i) {
    auto& decision = results.decisions[i];
    decision = settle(pairs, i / kChunkPairs, i % kChunkPairs, decision);
  }
  learn_encoded(pairs);
  if (cycle_.is_due()) cycle_.refresh(PairExtent::kWithoutHeldBack);
}

void LocalSession::score_and_count(const TextPairs& pairs, PairResults& results) {
  for_each_chunk(pairs, Keys::kNone, [](Chunk& chunk, std::size_t) {
    for (std::size_t i = 0; i < chunk.batch.size(); ++i) {
      if (chunk.broken[i] != reasons::kNone) chunk.batch.usable[i] = false;
    }
  });
  const auto cut = stream_->published()->cut;
  for (std::size_t k = 0; k < chunks_used_; ++k) {
    auto& batch = chunks_[k].batch;
    const auto first = k * kChunkPairs;
    const auto* times = pairs.times.empty() ? nullptr : pairs.times.data() + first;
    if (stream_->counter()->score_and_learn(batch, times) < batch.size()) throw std::bad_alloc();
    for (std::size_t i = 0; i < batch.size(); ++i) {
      results.set(first + i, batch.scores[i], Calibration());
      results.decisions[first + i] = settle(pairs, k, i, decide_by_score(batch.scores[i], cut));
    }
  }
  report(results.problems);
}

Decision LocalSession::settle(const TextPairs& pairs, std::size_t k, std::size_t row,
                              const Decision& by_score) {
  auto& chunk = chunks_[k];
  if (const auto decision = decide_by_rule(chunk.broken[row], by_score);
      is_rejection(decision.reason)) {
    chunk.batch.usable[row] = false;
    memory_.rejected(decision);
    return decision;
  }
  // The stream learns nothing from it anyway.
  if (!chunk.batch.usable[row]) return by_score;
  if (chunk.keys.empty()) {
    memory_.learned(PairKey(), by_score);
    return by_score;
  }
  const auto& key = chunk.keys[row];
  const auto policy = memory_.plan().duplicates;
  const auto duplicate =
      policy == DuplicatePolicy::kLearn ? reasons::kNone : memory_.recent().find(key);
  if (duplicate != reasons::kNone) {
    chunk.batch.usable[row] = false;
    const bool is_dropped = policy == DuplicatePolicy::kDrop;
    const auto decision = is_dropped ? decide_by_rule(duplicate, by_score) : by_score;
    memory_.rejected(decision);
    return decision;
  }
  const auto i = k * kChunkPairs + row;
  memory_.learned(pairs.x[i], pairs.y[i], key, by_score);
  if (notes_learned_) learned_.add(key);
  return by_score;
}

void LocalSession::learn_encoded(const TextPairs& pairs) {
  for (std::size_t k = 0; k < chunks_used_; ++k) {
    const auto& batch = chunks_[k].batch;
    const auto start = k * kChunkPairs;
    const auto& usable = batch.usable;
    for (auto begin = std::find(usable.begin(), usable.end(), true); begin != usable.end();) {
      const auto end = std::find(begin, usable.end(), false);
      const auto first = static_cast<std::size_t>(begin - usable.begin());
      const auto count = static_cast<std::size_t>(end - begin);
      auto learn_batch = items_to_learn(batch, first, count);
      if (!pairs.times.empty()) learn_batch.times = pairs.times.data() + start + first;
      learn_batch.x_texts = pairs.x.data() + start + first;
      learn_batch.y_texts = pairs.y.data() + start + first;
      learn_batch.explains = keeps_texts_;
      stream_->learn(learn_batch, 0, false);
      begin = std::find(end, usable.end(), true);
    }
  }
}

void LocalSession::finish() {
  // A model that has learned the pairs which calibrate it gives higher scores than it was
  // calibrated for, the more so the fewer pairs there are.
  const auto held_back = discounts_ ? stream_->held_back() : 0;
  cycle_.refresh(discounts_ ? PairExtent::kWithoutHeldBack : PairExtent::kAll);
  learned_.settle(held_back);
}

void LocalSession::report(std::vector<PairProblem>& problems) const {
  problems.clear();
  for (std::size_t k = 0; k < chunks_used_; ++k) {
    for (const auto& problem : chunks_[k].batch.problems) {
      problems.push_back({k * kChunkPairs + problem.row, problem.message});
    }
  }
}

void LocalSession::report_left_out(PairResults& results) const {
  for (std::size_t k = 0; k < chunks_used_; ++k) {
    const auto& batch = chunks_[k].batch;
    add_left_out(batch, 0, batch.size(), k * kChunkPairs, results.left_out);
  }
}

void LocalSession::rank(std::string_view x, std::span<const std::string_view> candidates,
                        double* scores, std::vector<PairProblem>& problems,
                        std::vector<LeftOut>& left_out) const {
  thread_local Batch batch;
  stream_->rank(x, candidates, batch);
  std::copy(batch.scores.begin(), batch.scores.end(), scores);
  problems = batch.problems;
  left_out.clear();
  add_left_out(batch, 0, candidates.size(), 0, left_out);
}

std::optional<PairExplanation> LocalSession::explain(std::string_view x, std::string_view y,
                                                     std::size_t top) const {
  std::string scratch;
  ExplainQuestion question;
  question.top = top;
  question.was_learned = discounts_ && learned_.contains(key_of(x, y, scratch));
  return stream_->explain(x, y, question);
}

StreamFacts LocalSession::facts() const {
  StreamFacts facts;
  facts.pairs = stream_->pairs();
  facts.clipped = stream_->clipped();
  const auto published = stream_->published();
  facts.estimator = published->estimator();
  if (const auto* of_model = published->facts()) {
    facts.ridge = of_model->ridge;
    facts.accuracy = of_model->accuracy;
    facts.dependence = of_model->dependence;
  }
  facts.views = views_of(*published);
  facts.damage = damage_of(*published);
  return facts;
}

}  // namespace phsic
