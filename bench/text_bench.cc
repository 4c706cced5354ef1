// From text to score: how many pairs a second, and which stage takes how long.
#include <fmt/format.h>

#include <memory>

#include "bench/live_daemon.h"
#include "bench/measures.h"
#include "bench/oracle.h"
#include "bench/race.h"
#include "bench/setup.h"
#include "bench/texts.h"
#include "core/measure.h"
#include "core/random.h"
#include "decide/decision_memory.h"
#include "engine/encoder.h"
#include "text/tokenizer.h"

namespace phsic::bench {
namespace {

constexpr std::size_t kPairs = 4096;

template <class Work>
double best_seconds(const Work& work) {
  double best = std::numeric_limits<double>::infinity();
  for (int run = 0; run < kRuns; ++run) best = std::min(best, seconds(work));
  return best;
}

// Pairs encoded a block at a time, as a stream does.
struct EncodedPairs {
  std::vector<Encoded> x{kPairs / kBatch};
  std::vector<Encoded> y{kPairs / kBatch};

  void encode(const Encoder& encoder, const TextSample& sample) {
    for (std::size_t k = 0; k < x.size(); ++k) {
      encoder.encode(std::span(sample.x).subspan(k * kBatch, kBatch), x[k]);
      encoder.encode(std::span(sample.y).subspan(k * kBatch, kBatch), y[k]);
    }
  }
};

// Pairs have to score higher than the same x's with the y's of the next block.
void require_sound(const std::string& name, const Model<float>& model, const EncodedPairs& pairs,
                   const std::vector<double>& scores) {
  std::vector<double> shuffled(kPairs);
  ScoreScratch<float> scratch;
  const auto blocks = pairs.x.size();
  for (std::size_t k = 0; k < blocks; ++k) {
    model.score(pairs.x[k].view(), pairs.y[(k + 1) % blocks].view(), shuffled.data() + k * kBatch,
                nullptr, scratch);
  }
  require_close(name + ": AUC of pairs against shuffled ones", area_under_curve(scores, shuffled),
                1, 0.1);
}

// What it takes to decide about pairs, beside encoding and scoring them: rules, duplicates, the
// cut. `score` is the time of encoding and scoring.
void measure_decisions(Report& report, const std::string& name, const TextSample& sample,
                       const std::vector<double>& scores, double score) {
  struct Case {
    const char* title;
    RuleSet rules;
    std::optional<Goal> goal;
  };
  for (const auto& [title, rules, goal] :
       {Case{"default rules", RuleSet(), at_least(0.75)}, Case{"all rules", RuleSet::hard(), {}}}) {
    DecidePlan plan;
    plan.rules = rules;
    plan.duplicate_window = 2 * kPairs;
    RuleScratch scratch;
    std::string key_scratch;
    std::size_t kept = 0;
    const double decide = best_seconds([&] {
      DecisionMemory memory(plan);
      kept = 0;
      for (std::size_t i = 0; i < kPairs; ++i) {
        const auto [x, y] = std::pair(sample.x[i], sample.y[i]);
        auto reason = broken_rule(plan.rules, x, y, memory.profile().get(), scratch);
        const auto key = key_of(x, y, key_scratch);
        if (reason == reasons::kNone) reason = memory.recent().find(key);
        if (reason != reasons::kNone) {
          memory.rejected({Verdict::kDrop, reason});
          continue;
        }
        memory.learned(x, y, key, decide_by_score(scores[i], 0));
        ++kept;
      }
    });
    if (kept == 0) throw WrongAnswer(name + ": found every pair rejected, expected most to pass");
    report.add(fmt::format("{}: filtering with {} and duplicates, against scoring", name, title),
               score / (score + decide), "of the rate", goal);
    report.add(fmt::format("{}: deciding with {}, a pair", name, title), 1e9 * decide / kPairs,
               "ns");
  }
}

void measure(Report& report, const std::string& name, const Encoder& encoder,
             const text::Tokenizer& tokenizer) {
  const TextSample sample = make_texts(kPairs, 3);
  text::Tokens tokens;
  const double segment = best_seconds([&] {
    for (const auto text : sample.x) tokenizer.split(text, tokens);
    for (const auto text : sample.y) tokenizer.split(text, tokens);
  });
  EncodedPairs pairs;
  const double encode = best_seconds([&] { pairs.encode(encoder, sample); });

  Learner<float> learner(stream(side(encoder.shape().kind, encoder.shape().dim, Kernel::cosine())));
  const auto learn_once = [&] {
    for (std::size_t k = 0; k < pairs.x.size(); ++k) {
      learner.learn(pairs.x[k].view(), pairs.y[k].view(), nullptr, nullptr, nullptr);
    }
  };
  const double learn = best_seconds(learn_once);

  EstimatorSpec spec;
  spec.kind = EstimatorKind::kGaussianPmi;
  spec.ridge = kDefaultRidge;
  const auto model = model_of(learner, spec);
  std::vector<double> scores(kPairs);
  ScoreScratch<float> scratch;
  const double score = best_seconds([&] {
    for (std::size_t k = 0; k < pairs.x.size(); ++k) {
      model->score(pairs.x[k].view(), pairs.y[k].view(), scores.data() + k * kBatch, nullptr,
                   scratch);
    }
  });
  require_sound(name, *model, pairs, scores);
  const auto decided = scores;
  // What is left of the score once both sides are projected.
  const auto& estimator = *model->estimator();
  std::vector<float> u(estimator.rank(), 0.5F);
  const double combine = best_seconds([&] {
    for (std::size_t i = 0; i < kPairs; ++i) scores[i] = estimator.combine(u.data(), u.data());
  });

  const double all = encode + score;
  report.add(fmt::format("{}: text to score, one core", name), kPairs / all, "pairs/s");
  const auto share = [&](const char* stage, double time, double of) {
    report.add(fmt::format("{}: {}", name, stage), 100 * time / of, "% of the time");
  };
  share("score: segment", segment, all);
  share("score: the rest of encoding", encode - segment, all);
  share("score: project", score - combine, all);
  share("score: combine", combine, all);
  report.add(fmt::format("{}: text to learned, one core", name), kPairs / (encode + learn),
             "pairs/s");
  share("learn: encode", encode, encode + learn);
  share("learn: moments and sample", learn, encode + learn);
  measure_decisions(report, name, sample, decided, all);
}

}  // namespace

void texts_with_hashing(Report& report) {
  report.note("short texts (8 words on average), hashing 1024, cosine, gaussian-pmi of rank 256");
  measure(report, "hashing", Encoder(EncoderSpec::parse("hashing"), EncoderPath()),
          text::Tokenizer("icu", text::Normalization::kNfkcCasefold, text::Signs::kDropped));
}

void texts_with_word_vectors(Report& report) {
  report.note("the same texts, 50,000 word vectors of 100 dimensions");
  const Folder folder;
  const auto file = folder.path("words.vec");
  write_vectors(file, 100);
  const auto spec = EncoderSpec::parse(fmt::format("wordvec:file=\"{}\"", file));
  const auto open = [&] { return std::make_unique<Encoder>(spec, EncoderPath()); };
  const double first = seconds(open);
  const double again = best_seconds(open);
  report.add("wordvec: first start, from text", 1e3 * first, "ms");
  report.add("wordvec: next start, from the cache", 1e3 * again, "ms");
  measure(report, "wordvec", *open(),
          text::Tokenizer("icu", text::Normalization::kNfc, text::Signs::kKept));
}

}  // namespace phsic::bench
