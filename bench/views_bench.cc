// A stream with two views must take no longer than two streams with one of them each.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <memory>
#include <string>

#include "bench/live_daemon.h"
#include "bench/measures.h"
#include "bench/oracle.h"
#include "bench/texts.h"
#include "core/model.h"
#include "engine/model_cycle.h"
#include "engine/stream.h"

namespace phsic::bench {
namespace {

constexpr std::size_t kPairs = 8192;
constexpr std::size_t kBatch = 256;
constexpr int kRuns = 7;

// By the clock on the wall: views may learn in several threads.
template <class Work>
double wall_seconds(const Work& work) {
  double best = std::numeric_limits<double>::infinity();
  for (int run = 0; run < kRuns; ++run) {
    const auto began = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    best = std::min(best, took.count());
  }
  return best;
}

struct Seconds {
  double score = 0;
  double learn = 0;
};

class Subject {
 public:
  Subject(std::initializer_list<std::string> encoders, const TextSample& sample) : sample_(sample) {
    std::string views;
    for (const auto& encoder : encoders) add_view(encoder, views);
    StreamSpec spec;
    spec.set("views", views);
    spec.set("ridge", "1");
    spec.set("estimator", "gaussian-pmi");
    stream_ = Stream::open(spec, EncoderPath());
    learn();
    ModelCycle(*stream_).refresh(PairExtent::kWithoutHeldBack);
  }

  [[nodiscard]] Seconds measure() {
    return {wall_seconds([this] { score(); }), wall_seconds([this] { learn(); })};
  }
  [[nodiscard]] double auc() const { return stream_->published()->facts()->accuracy->auc; }

 private:
  template <class Work>
  void for_each_batch(const Work& work) {
    for (std::size_t first = 0; first < kPairs; first += kBatch) {
      stream_->encode({std::span(sample_.x).subspan(first, kBatch),
                       std::span(sample_.y).subspan(first, kBatch),
                       {}},
                      batch_);
      work();
    }
  }
  void score() {
    for_each_batch([this] { stream_->score(batch_); });
  }
  void learn() {
    for_each_batch([this] { stream_->learn(items_to_learn(batch_, 0, kBatch), 0, false); });
  }

  const TextSample& sample_;
  std::unique_ptr<Stream> stream_;
  Batch batch_;
};

}  // namespace

void views_of_texts(Report& report) {
  report.note("the same texts, hashing 1024 and 50,000 word vectors of 100 dimensions as views");
  const Folder folder;
  const auto file = folder.path("words.vec");
  write_vectors(file, 100);
  const auto sample = make_texts(kPairs, 3);
  const std::string hashing = "hashing";
  const auto words = fmt::format("wordvec:file=\"{}\"", file);
  Subject one({hashing}, sample);
  Subject other({words}, sample);
  Subject both({hashing, words}, sample);
  if (both.auc() < std::max(one.auc(), other.auc()) - 0.02) {
    throw WrongAnswer(
        fmt::format("views: found a self-AUC of {}, expected that of the better one", both.auc()));
  }
  const auto first = one.measure();
  const auto second = other.measure();
  const auto together = both.measure();
  report.add("views: text to score, the times of each alone to that of both",
             (first.score + second.score) / together.score, "", at_least(0.9));
  report.add("views: text to learned, likewise", (first.learn + second.learn) / together.learn, "",
             at_least(0.9));
  report.add("views: text to score with both", kPairs / together.score, "pairs/s");
  report.add("views: text to learned with both", kPairs / together.learn, "pairs/s");
}

}  // namespace phsic::bench
