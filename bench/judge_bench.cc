// What a judge costs: scoring with it to scoring without, and fitting it to building the model.
#include <algorithm>
#include <limits>
#include <memory>

#include "bench/measures.h"
#include "bench/oracle.h"
#include "bench/race.h"
#include "bench/texts.h"
#include "core/model.h"
#include "engine/model_cycle.h"
#include "engine/stream.h"

namespace phsic::bench {
namespace {

constexpr std::size_t kPairs = 8192;
constexpr std::size_t kBatch = 256;
constexpr int kBuilds = 5;

class Subject {
 public:
  Subject(bool judges, const TextSample& sample) : sample_(sample) {
    StreamSpec spec;
    spec.set("judge", judges ? "true" : "false");
    stream_ = Stream::open(spec, EncoderPath());
    for_each_batch([this](const TextPairs& pairs) {
      auto batch = items_to_learn(batch_, 0, kBatch);
      batch.x_texts = pairs.x.data();
      batch.y_texts = pairs.y.data();
      stream_->learn(batch, 0, false);
    });
    ModelCycle(*stream_).refresh(PairExtent::kWithoutHeldBack);
  }

  void score() {
    for_each_batch([this](const TextPairs& /*pairs*/) { stream_->score(batch_); });
  }
  // The shortest time that a model takes to build.
  [[nodiscard]] double build_seconds() const {
    double best = std::numeric_limits<double>::infinity();
    for (int run = 0; run < kBuilds; ++run) {
      const auto refresh = stream_->freeze(PairExtent::kWithoutHeldBack);
      best = std::min(best, seconds([&] { refresh->build(); }));
    }
    return best;
  }
  // The share of the last batch that is likelier good than damaged.
  [[nodiscard]] double good_share() const {
    const auto good = std::count_if(batch_.judgements.begin(), batch_.judgements.end(),
                                    [](const Judgement& of) { return of.quality > 0.5; });
    return static_cast<double>(good) / kBatch;
  }

 private:
  template <class Work>
  void for_each_batch(const Work& work) {
    for (std::size_t first = 0; first < kPairs; first += kBatch) {
      const TextPairs pairs{std::span(sample_.x).subspan(first, kBatch),
                            std::span(sample_.y).subspan(first, kBatch),
                            {}};
      stream_->encode(pairs, batch_);
      work(pairs);
    }
  }

  const TextSample& sample_;
  std::unique_ptr<Stream> stream_;
  Batch batch_;
};

}  // namespace

void judge_of_texts(Report& report) {
  report.note("texts, hashing 1024, one view, with a judge and without");
  const auto sample = make_texts(kPairs, 3);
  Subject plain(false, sample);
  Subject judged(true, sample);
  const auto times = race(
      kRuns, [&] { judged.score(); }, [&] { plain.score(); });
  if (judged.good_share() < 0.9) {
    throw WrongAnswer("judge: found good pairs that it takes for damaged, expected few of them");
  }
  report.add("judge: text to score, to the same without a judge", times.ratio(), "", at_least(0.6));
  report.add("judge: text to score and quality", kPairs / times.ours, "pairs/s");
  const double model = plain.build_seconds();
  const double fitting = judged.build_seconds() - model;
  report.add("judge: building the model (hashing 1024)", model, "s");
  report.add("judge: fitting, beyond that", fitting, "s", at_most(std::max(0.3, 0.5 * model)));
}

}  // namespace phsic::bench
