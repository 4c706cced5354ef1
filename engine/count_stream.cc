#include "engine/count_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <new>

#include "core/error.h"

namespace phsic {
namespace {

// Counts kept of x's, of y's and of pairs: some 240 MB when full.
constexpr std::size_t kCapacity = 1U << 20U;

}  // namespace

CountStream::CountStream(const StreamSpec& spec)
    : published_(std::make_shared<const PublishedModel>()),
      forgetting_(spec.forgetting),
      learns_identical_(spec.learns_identical),
      counts_(kCapacity) {
  if (forgetting_.is_window()) {
    throw Error("window: estimator pmi has none, expected half-life or never");
  }
}

void CountStream::encode(const TextPairs& pairs, Batch& batch) const {
  texts_.encode(pairs.x, batch.x);
  texts_.encode(pairs.y, batch.y);
  batch.problems.clear();
  batch.was_learned.clear();
  batch.usable.assign(batch.size(), true);
  for (std::size_t i = 0; !learns_identical_ && i < batch.size(); ++i) {
    if (pairs.x[i] == pairs.y[i]) batch.usable[i] = false;
  }
}

void CountStream::take(const DenseRows<float>& /*x*/, const DenseRows<float>& /*y*/,
                       Batch& /*batch*/) const {
  throw Error("found vectors, expected texts: estimator pmi counts texts");
}

void CountStream::set_cut(std::optional<double> cut) {
  auto next = *published();
  next.cut = cut;
  std::atomic_store(&published_, std::make_shared<const PublishedModel>(next));
}

// Scores each pair, then calls then(i, x, y). Nothing else changes the counts meanwhile.
template <class Then>
void CountStream::score_each(Batch& batch, const Then& then) const {
  const auto x = std::get<TextRows>(batch.x.view());
  const auto y = std::get<TextRows>(batch.y.view());
  batch.published = published();
  batch.scores.resize(batch.size());
  const std::lock_guard lock(counting_);
  for (std::size_t i = 0; i < batch.size(); ++i) {
    batch.scores[i] = counts_.score(x.text(i), y.text(i));
    then(i, x.text(i), y.text(i));
  }
}

void CountStream::score(Batch& batch) const {
  score_each(batch, [](std::size_t, std::string_view, std::string_view) {});
}

std::size_t CountStream::score_and_learn(Batch& batch, const double* times) {
  batch.scores.resize(batch.size());
  std::size_t done = 0;
  try {
    score_each(batch, [&](std::size_t i, std::string_view x, std::string_view y) {
      if (batch.usable[i]) learn_one(x, y, times == nullptr ? nullptr : times + i);
      done = i + 1;
    });
  } catch (const std::bad_alloc&) {
    // The pairs before this one stay learned; the caller is told how many they are.
  }
  return done;
}

std::size_t CountStream::learn(const LearnBatch& batch, std::size_t first, bool /*stops*/) {
  const auto x = std::get<TextRows>(batch.x);
  const auto y = std::get<TextRows>(batch.y);
  const std::lock_guard lock(counting_);
  for (std::size_t i = first; i < batch.size(); ++i) {
    learn_one(x.text(i), y.text(i), batch.times == nullptr ? nullptr : batch.times + i);
  }
  return batch.size();
}

// Nothing has changed if there is no memory for the pair. REQUIRES: counting_ is held.
void CountStream::learn_one(std::string_view x, std::string_view y, const double* time) {
  double fade = 1;
  auto latest = latest_time_;
  if (forgetting_.mode == Forgetting::Mode::kHalfLifePairs) {
    fade = std::exp2(-1 / forgetting_.span);
  } else if (forgetting_.by_seconds() && time != nullptr) {
    latest = std::max(latest_time_.value_or(*time), *time);
    const double elapsed = *time - latest_time_.value_or(*time);
    if (elapsed > 0) fade = std::max(std::exp2(-elapsed / forgetting_.span), 1e-300);
  }
  if (counts_.learn(x, y, 1, fade) == Fault::kNone) ++pairs_;
  latest_time_ = latest;
}

void CountStream::rank(std::string_view x, std::span<const std::string_view> candidates,
                       Batch& batch) const {
  texts_.encode(candidates, batch.y);
  batch.problems.clear();
  batch.published = published();
  batch.scores.resize(candidates.size());
  const std::lock_guard lock(counting_);
  for (std::size_t j = 0; j < candidates.size(); ++j) {
    batch.scores[j] = counts_.score(x, candidates[j]);
  }
}

void CountStream::rank(const DenseRows<float>& x, const DenseRows<float>& candidates,
                       Batch& batch) const {
  take(x, candidates, batch);
}

std::optional<PairExplanation> CountStream::explain(std::string_view /*x*/, std::string_view /*y*/,
                                                    const ExplainQuestion& /*question*/) const {
  PairExplanation none;
  none.published = published();
  none.problem = "estimator pmi counts texts as they are: no other pair has a share in a score";
  return none;
}

std::unique_ptr<Refresh> CountStream::freeze(Extent /*extent*/) { return nullptr; }

void CountStream::adopt(Refresh& /*refresh*/) {}

std::uint64_t CountStream::pairs() const {
  const std::lock_guard lock(counting_);
  return pairs_;
}

// ---- Keeping ----

class CountStream::State : public StreamState {
 public:
  explicit State(const CountStream& stream)
      : counts_(stream.counts_), pairs_(stream.pairs_), latest_time_(stream.latest_time_) {}

  void save(Writer& writer) const override {
    writer.number(pairs_);
    writer.number<std::uint8_t>(latest_time_.has_value());
    writer.number(latest_time_.value_or(0));
    counts_.save(writer);
  }

 private:
  CountPmi counts_;
  std::uint64_t pairs_;
  std::optional<double> latest_time_;
};

std::vector<StreamTrait> CountStream::identity() const {
  const char* unit = forgetting_.by_seconds() ? "seconds" : "pairs";
  const bool forgets = forgetting_.mode != Forgetting::Mode::kNever;
  return {
      {"estimator", fmt::format("pmi of {} counts", kCapacity)},
      {"forgetting",
       forgets ? fmt::format("half-life of {} {}", forgetting_.span, unit) : std::string("never")},
      {"learn-identical", learns_identical_ ? "true" : "false"},
  };
}

std::unique_ptr<const StreamState> CountStream::state() const {
  const std::lock_guard lock(counting_);
  return std::make_unique<const State>(*this);
}

void CountStream::restore(Reader& reader) {
  const auto pairs = reader.number<std::uint64_t>("pairs");
  const bool has_time = reader.flag("has time");
  const double time = reader.finite("latest time");
  auto counts = CountPmi::load(reader);
  reader.finish();
  // It refuses counts of another capacity.
  CountPmi fresh(kCapacity);
  fresh.merge(counts);
  const std::lock_guard lock(counting_);
  counts_ = std::move(counts);
  pairs_ = pairs;
  latest_time_ = has_time ? std::optional<double>(time) : std::nullopt;
}

void CountStream::adopt_again(std::string_view /*adoption*/) {
  throw Error("found a model for a stream that counts, expected none");
}

void CountStream::merge(const StreamStorage& other) {
  const auto* like = dynamic_cast<const CountStream*>(&other);
  if (like == nullptr) throw Error("found a stream with kernels, expected one that counts");
  const std::scoped_lock lock(counting_, like->counting_);
  if (forgetting_.by_seconds() && latest_time_ && like->latest_time_) {
    // Brings both to the later time.
    auto theirs = like->counts_;
    const double elapsed = *like->latest_time_ - *latest_time_;
    auto& older = elapsed > 0 ? counts_ : theirs;
    older.decay(std::max(std::exp2(-std::abs(elapsed) / forgetting_.span), 1e-300));
    counts_.merge(theirs);
    latest_time_ = std::max(*latest_time_, *like->latest_time_);
  } else {
    counts_.merge(like->counts_);
    if (!latest_time_) latest_time_ = like->latest_time_;
  }
  pairs_ += like->pairs_;
}

}  // namespace phsic
