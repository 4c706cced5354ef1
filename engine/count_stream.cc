#include "engine/count_stream.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"

namespace phsic {
namespace {

// Counts kept of x's, of y's and of pairs: some 240 MB when full.
constexpr std::size_t kCapacity = 1U << 20U;

}  // namespace

CountStream::CountStream(const StreamSpec& spec)
    : forgetting_(spec.forgetting), learns_identical_(spec.learns_identical), counts_(kCapacity) {
  if (forgetting_.is_window()) {
    throw Error("window: estimator pmi has none, expected half-life or never");
  }
}

void CountStream::score(const TextPairs& pairs, double* scores,
                        std::vector<PairProblem>& /*problems*/) {
  for (std::size_t i = 0; i < pairs.x.size(); ++i) {
    scores[i] = counts_.score(pairs.x[i], pairs.y[i]);
  }
}

void CountStream::learn(const TextPairs& pairs, std::vector<PairProblem>& /*problems*/) {
  for (std::size_t i = 0; i < pairs.x.size(); ++i) learn_one(pairs, i);
}

void CountStream::score_then_learn(const TextPairs& pairs, double* scores,
                                   std::vector<PairProblem>& /*problems*/) {
  for (std::size_t i = 0; i < pairs.x.size(); ++i) {
    scores[i] = counts_.score(pairs.x[i], pairs.y[i]);
    learn_one(pairs, i);
  }
}

void CountStream::learn_one(const TextPairs& pairs, std::size_t i) {
  if (!learns_identical_ && pairs.x[i] == pairs.y[i]) return;
  if (forgetting_.mode == Forgetting::Mode::kHalfLifePairs) {
    counts_.decay(std::exp2(-1 / forgetting_.span));
  } else if (forgetting_.by_seconds() && !pairs.times.empty()) {
    const double elapsed = pairs.times[i] - latest_time_.value_or(pairs.times[i]);
    if (elapsed > 0) counts_.decay(std::max(std::exp2(-elapsed / forgetting_.span), 1e-300));
    latest_time_ = std::max(latest_time_.value_or(pairs.times[i]), pairs.times[i]);
  }
  if (counts_.learn(pairs.x[i], pairs.y[i]) == Fault::kNone) ++pairs_;
}

void CountStream::rank(std::string_view x, std::span<const std::string_view> candidates,
                       double* scores, std::vector<PairProblem>& /*problems*/) const {
  for (std::size_t j = 0; j < candidates.size(); ++j) scores[j] = counts_.score(x, candidates[j]);
}

StreamFacts CountStream::facts() const {
  StreamFacts facts;
  facts.pairs = pairs_;
  facts.estimator = "pmi";
  return facts;
}

}  // namespace phsic
