// Streams and encoders in several threads. The thread sanitizer runs these tests, too.
#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "cli/session/session.h"
#include "core/random.h"
#include "engine/encoder.h"
#include "engine/parallel.h"
#include "engine/stream.h"

namespace phsic::test {
namespace {

struct Texts {
  std::vector<std::string> owned;
  std::vector<std::string_view> x;
  std::vector<std::string_view> y;
};

// y says in other words what x says.
Texts make_texts(std::size_t pairs) {
  Random random(1);
  Texts texts;
  for (std::size_t i = 0; i < pairs; ++i) {
    std::string x;
    std::string y;
    for (int k = 0; k < 4; ++k) {
      const auto word = random.below(30);
      x += "wort" + std::to_string(word) + " ";
      y += "слово" + std::to_string(29 - word) + " ";
    }
    texts.owned.push_back(std::move(x));
    texts.owned.push_back(std::move(y));
  }
  for (std::size_t i = 0; i < pairs; ++i) {
    texts.x.emplace_back(texts.owned[2 * i]);
    texts.y.emplace_back(texts.owned[2 * i + 1]);
  }
  return texts;
}

std::vector<double> scores_with(std::size_t threads, const Texts& texts) {
  StreamSpec spec;
  spec.set("encoder", "hashing:dim=64");
  spec.set("rank", "16");
  // Numbers alone tell the texts apart, so that each would be nearly the first one.
  DecideSpec decide;
  decide.duplicates = DuplicatePolicy::kLearn;
  const auto stream = Session::open(spec, decide, EncoderPath(), threads);
  std::vector<double> scores;
  PairResults results;
  while (scores.size() < texts.x.size()) {
    const auto first = scores.size();
    const auto count = std::min(stream->until_refresh(), texts.x.size() - first);
    stream->score_then_learn(
        {std::span(texts.x).subspan(first, count), std::span(texts.y).subspan(first, count), {}},
        results);
    CHECK(results.problems.empty());
    scores.insert(scores.end(), results.scores.begin(), results.scores.end());
  }
  return scores;
}

TEST_CASE("A stream scores the same with any number of threads") {
  const Texts texts = make_texts(2000);
  const auto alone = scores_with(1, texts);
  CHECK(alone.back() != 0);
  CHECK(scores_with(4, texts) == alone);
}

// The scores of all pairs, encoded and scored in batches of so many.
std::vector<double> scores_in_batches(const phsic::Stream& stream, const Texts& texts,
                                      std::size_t most) {
  std::vector<double> scores;
  Batch batch;
  while (scores.size() < texts.x.size()) {
    const auto first = scores.size();
    const auto count = std::min(most, texts.x.size() - first);
    stream.encode(
        {std::span(texts.x).subspan(first, count), std::span(texts.y).subspan(first, count), {}},
        batch);
    stream.score(batch);
    scores.insert(scores.end(), batch.scores.begin(), batch.scores.end());
  }
  return scores;
}

// Texts that are vectors.
Texts make_vectors(std::size_t pairs, std::size_t dim) {
  Random random(2);
  Texts texts;
  const auto list = [&](double hidden) {
    std::string numbers;
    for (std::size_t k = 0; k < dim; ++k) {
      numbers += std::to_string(hidden * double(k % 5) + random.normal()) + " ";
    }
    return numbers;
  };
  for (std::size_t i = 0; i < 2 * pairs; ++i) texts.owned.push_back(list(double(i / 2 % 9)));
  for (std::size_t i = 0; i < pairs; ++i) {
    texts.x.emplace_back(texts.owned[2 * i]);
    texts.y.emplace_back(texts.owned[2 * i + 1]);
  }
  return texts;
}

TEST_CASE("A pair scores the same bits in any batch and any thread") {
  const Texts words = make_texts(520);
  const Texts vectors = make_vectors(520, 40);
  struct Case {
    const char* encoder;
    const char* kernel;
    const Texts* texts;
  };
  // Sparse vectors as they are, sparse and dense ones by pivots, and dense ones as they are.
  const Case cases[] = {{"hashing:dim=256", "cosine", &words},
                        {"hashing:dim=256", "gaussian", &words},
                        {"vectors:dim=40", "linear", &vectors},
                        {"vectors:dim=40", "gaussian", &vectors}};
  for (const Case& one : cases) {
    CAPTURE(one.encoder, one.kernel);
    StreamSpec spec;
    spec.set("encoder", one.encoder);
    spec.set("kernel", one.kernel);
    const auto stream = phsic::Stream::open(spec, EncoderPath());
    Batch batch;
    stream->encode({one.texts->x, one.texts->y, {}}, batch);
    LearnBatch learned;
    learned.x = batch.x.view();
    learned.y = batch.y.view();
    CHECK(stream->learn(learned, 0, false) == one.texts->x.size());
    const auto refresh = stream->freeze(phsic::Stream::Extent::kAll);
    refresh->build();
    stream->adopt(*refresh);
    const auto together = scores_in_batches(*stream, *one.texts, 256);
    CHECK(std::count(together.begin(), together.end(), together.front()) < 5);
    const std::size_t sizes[] = {1, 7, 256, 1, 7, 256};
    std::vector<std::vector<double>> found(std::size(sizes));
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < found.size(); ++i) {
      threads.emplace_back([&, i] { found[i] = scores_in_batches(*stream, *one.texts, sizes[i]); });
    }
    for (std::thread& thread : threads) thread.join();
    for (const auto& scores : found) CHECK(scores == together);
    for (const std::size_t i : {0, 300, 519}) {
      stream->rank(one.texts->x[i], one.texts->y, batch);
      CHECK(batch.scores[i] == together[i]);
    }
  }
}

TEST_CASE("Many threads encode with one encoder and rank with one stream") {
  const Texts texts = make_texts(600);
  StreamSpec spec;
  spec.set("encoder", "hashing:dim=64");
  const auto stream = Session::open(spec, DecideSpec(), EncoderPath(), 2);
  std::vector<PairProblem> problems;
  stream->learn({texts.x, texts.y, {}}, problems);
  stream->finish();
  const auto rank = [&](std::size_t i) {
    std::vector<double> scores(20);
    std::vector<PairProblem> found;
    std::vector<LeftOut> left_out;
    stream->rank(texts.x[i], std::span(texts.y).first(20), scores.data(), found, left_out);
    return scores;
  };
  std::vector<std::vector<double>> together(200);
  for_each_in_parallel(together.size(), 4, [&](std::size_t i) { together[i] = rank(i); });
  for (std::size_t i = 0; i < together.size(); ++i) CHECK(together[i] == rank(i));
}

TEST_CASE("What one thread throws ends the work, and reaches the caller when all have ended") {
  // The others are at work when the first throws.
  constexpr std::size_t kThreads = 4;
  std::atomic<std::size_t> begun{0};
  std::atomic<std::size_t> ended{0};
  std::atomic<bool> throws{false};
  // It would take forever to do all of it.
  CHECK_THROWS_WITH(for_each_in_parallel(std::size_t{1} << 62U, kThreads,
                                         [&](std::size_t i) {
                                           ++begun;
                                           if (i == 0) {
                                             while (begun < kThreads) std::this_thread::yield();
                                             throws = true;
                                             throw std::runtime_error("nought");
                                           }
                                           while (!throws) std::this_thread::yield();
                                           ++ended;
                                         }),
                    "nought");
  CHECK(ended == begun - 1);
}

}  // namespace
}  // namespace phsic::test
