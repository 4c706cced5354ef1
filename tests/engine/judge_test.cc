// Streams with a judge, held against streams without one and against each other.
#include "engine/judge.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/agreement.h"
#include "core/calibration.h"
#include "core/error.h"
#include "core/measure.h"
#include "core/model.h"
#include "core/random.h"
#include "engine/damage.h"
#include "engine/half_coordinates.h"
#include "engine/learn_items.h"
#include "engine/model_cycle.h"
#include "engine/stream.h"
#include "engine/stream_facts.h"
#include "engine/surface.h"
#include "tests/core/reduced.h"
#include "tests/engine/replica_notes.h"
#include "text/halves.h"

namespace phsic::test {
namespace {

// What a stream reads texts with.
enum class Reads { kHashing, kPivots, kViews };

StreamSpec spec_of(Reads reads, bool judges) {
  StreamSpec spec;
  spec.set("judge", judges ? "true" : "false");
  spec.set("rank", "24");
  spec.set("held-back", "256");
  if (reads == Reads::kHashing) spec.set("encoder", "hashing:dim=64");
  if (reads == Reads::kPivots) {
    spec.set("kernel", "spectrum:n=2");
    spec.set("pivots", "24");
  }
  if (reads == Reads::kViews) {
    spec.set("views", R"([{"name":"words","encoder":"hashing:dim=64"},
                          {"name":"twos","kernel":"spectrum:n=2","pivots":"16"}])");
  }
  spec.validate();
  return spec;
}

std::unique_ptr<phsic::Stream> open(Reads reads, bool judges = true) {
  return phsic::Stream::open(spec_of(reads, judges), EncoderPath());
}

// Sentences about a few things, and what they are called in another language, in any order.
struct Corpus {
  Corpus(std::size_t count, std::uint64_t seed, double swapped = 0.1) {
    Random random(seed);
    std::vector<std::vector<std::uint64_t>> sentences(count);
    for (auto& things : sentences) {
      const auto topic = random.below(12);
      for (auto n = 4 + random.below(4); n > 0; --n) {
        things.push_back(random.uniform() < 0.8 ? 8 * topic + random.below(8) : random.below(96));
      }
    }
    for (const auto& things : sentences) {
      const bool is_swapped = random.uniform() < swapped;
      is_good.push_back(!is_swapped);
      x.push_back(spoken(things, 0));
      y.push_back(spoken(is_swapped ? sentences[random.below(count)] : things, 1));
    }
  }

  static std::string spoken(const std::vector<std::uint64_t>& things, std::uint64_t language) {
    constexpr const char* kSyllables[] = {"bade", "funa", "kilo", "gumi", "rahe", "tosa", "nevi"};
    std::string text;
    for (const auto thing : things) {
      Random random(language, thing);
      if (!text.empty()) text += ' ';
      for (int i = 0; i < 2; ++i) text += kSyllables[random.below(7)];
      text += static_cast<char>('a' + random.below(26));
    }
    return text + '.';
  }

  std::vector<std::string> x;
  std::vector<std::string> y;
  std::vector<bool> is_good;
};

std::vector<std::string_view> part_of(const std::vector<std::string>& texts, std::size_t first,
                                      std::size_t count) {
  const auto begin = texts.begin() + static_cast<std::ptrdiff_t>(first);
  return {begin, begin + static_cast<std::ptrdiff_t>(count)};
}

void learn(phsic::Stream& stream, const Corpus& corpus, std::size_t first, std::size_t last,
           std::size_t piece = 100) {
  Batch batch;
  for (; first < last; first += piece) {
    const auto count = std::min(piece, last - first);
    const auto x = part_of(corpus.x, first, count);
    const auto y = part_of(corpus.y, first, count);
    stream.encode({x, y, {}}, batch);
    auto items = items_to_learn(batch, 0, count);
    items.x_texts = x.data();
    items.y_texts = y.data();
    stream.learn(items, 0, false);
  }
}

void refresh(phsic::Stream& stream) { ModelCycle(stream).refresh(PairExtent::kWithoutHeldBack); }

struct Judged {
  std::vector<double> scores;
  std::vector<double> qualities;
  std::vector<double> soft_minima;
  std::vector<int> kinds;

  bool operator==(const Judged&) const = default;
};

Judged judge(const phsic::Stream& stream, const Corpus& corpus, std::size_t piece = 64) {
  Batch batch;
  Judged judged;
  for (std::size_t first = 0; first < corpus.x.size(); first += piece) {
    const auto count = std::min(piece, corpus.x.size() - first);
    const auto x = part_of(corpus.x, first, count);
    const auto y = part_of(corpus.y, first, count);
    stream.encode({x, y, {}}, batch);
    stream.score(batch);
    judged.scores.insert(judged.scores.end(), batch.scores.begin(), batch.scores.end());
    for (const auto& judgement : batch.judgements) {
      judged.qualities.push_back(judgement.quality);
      judged.soft_minima.push_back(judgement.soft_minimum);
      judged.kinds.push_back(judgement.kind);
    }
  }
  return judged;
}

std::string bytes_of(const phsic::Stream& stream) {
  Writer writer;
  stream.state()->save(writer);
  return writer.bytes();
}

std::string bytes_of(const Judge& judge) {
  Writer writer;
  judge.save(writer);
  return writer.bytes();
}

std::unique_ptr<phsic::Stream> restored(Reads reads, const std::string& saved, bool judges = true) {
  auto stream = open(reads, judges);
  Reader reader(saved);
  stream->restore(reader);
  reader.finish();
  return stream;
}

// Enough for 240 held-back pairs.
constexpr std::size_t kTaught = 1200;
const Corpus kCorpus(kTaught + 300, 1);
const Corpus kAsked(120, 2, 0.5);

// One that has learned kTaught pairs and has a model of them, for tests that leave it as it is.
const phsic::Stream& taught(Reads reads) {
  static std::unique_ptr<phsic::Stream> streams[3];
  auto& stream = streams[static_cast<std::size_t>(reads)];
  if (stream == nullptr) {
    stream = open(reads);
    learn(*stream, kCorpus, 0, kTaught);
    refresh(*stream);
  }
  return *stream;
}

constexpr Reads kAllReads[] = {Reads::kHashing, Reads::kPivots, Reads::kViews};

TEST_CASE("A judge leaves scores, and what is learned, as they are without") {
  for (const auto reads : kAllReads) {
    CAPTURE(static_cast<int>(reads));
    const auto plain = open(reads, false);
    learn(*plain, kCorpus, 0, kTaught);
    refresh(*plain);
    const auto expected = judge(*plain, kAsked);
    const auto found = judge(taught(reads), kAsked);
    CHECK(found.scores == expected.scores);
    CHECK(expected.qualities.empty());
    CHECK(found.qualities.size() == kAsked.x.size());
    CHECK(taught(reads).identity() == plain->identity());
    // The state with a judge ends with the state without.
    const auto with = bytes_of(taught(reads));
    const auto without = bytes_of(*plain);
    REQUIRE(with.size() > without.size());
    CHECK(with.compare(with.size() - without.size(), without.size(), without) == 0);
  }
}

TEST_CASE("Qualities are probabilities, and tell swapped pairs from matched ones") {
  const Corpus asked(400, 3, 0.5);
  for (const auto reads : {Reads::kHashing, Reads::kViews}) {
    CAPTURE(static_cast<int>(reads));
    const auto found = judge(taught(reads), asked);
    std::vector<double> good[2];
    std::vector<double> bad[2];
    double sums[2] = {};
    for (std::size_t i = 0; i < asked.x.size(); ++i) {
      CHECK(found.qualities[i] >= 0);
      CHECK(found.qualities[i] <= 1);
      CHECK(std::isfinite(found.soft_minima[i]));
      CHECK(static_cast<std::size_t>(found.kinds[i]) < damage_kinds().size());
      auto& by_quality = asked.is_good[i] ? good : bad;
      by_quality[0].push_back(found.qualities[i]);
      by_quality[1].push_back(found.soft_minima[i]);
      sums[asked.is_good[i] ? 1 : 0] += found.qualities[i];
    }
    for (int by = 0; by < 2; ++by) CHECK(area_under_curve(good[by], bad[by]) > 0.8);
    CHECK(sums[1] / static_cast<double>(good[0].size()) >
          0.2 + sums[0] / static_cast<double>(bad[0].size()));
  }
}

TEST_CASE("A stream with more damage has less that is good, by its judge's estimate") {
  const auto good_share = [](double swapped) {
    const auto stream = open(Reads::kHashing);
    learn(*stream, Corpus(kTaught, 4, swapped), 0, kTaught);
    refresh(*stream);
    return stream->published()->judge->fitted().shares.good;
  };
  const double clean = good_share(0);
  const double damaged = good_share(0.3);
  CHECK(clean > 0.85);
  CHECK(damaged < clean - 0.1);
  CHECK(damaged > 0.4);
}

TEST_CASE("However pairs were batched, and whatever was scored meanwhile, the judge is the same") {
  for (const auto reads : kAllReads) {
    CAPTURE(static_cast<int>(reads));
    const auto expected = bytes_of(taught(reads));
    for (const std::size_t piece : {std::size_t{7}, kTaught}) {
      CAPTURE(piece);
      const auto stream = open(reads);
      for (std::size_t first = 0; first < kTaught; first += 400) {
        learn(*stream, kCorpus, first, first + 400, piece);
        static_cast<void>(judge(*stream, kAsked));
      }
      refresh(*stream);
      CHECK(bytes_of(*stream) == expected);
      CHECK(judge(*stream, kAsked) == judge(taught(reads), kAsked));
      if (reads != Reads::kHashing) break;
    }
  }
}

TEST_CASE("What a judge says of a pair does not depend on the pairs around it") {
  const Corpus asked(300, 5, 0.3);
  for (const auto reads : kAllReads) {
    CAPTURE(static_cast<int>(reads));
    const auto expected = judge(taught(reads), asked, 300);
    for (const std::size_t piece : {1, 7, 256}) {
      CAPTURE(piece);
      CHECK(judge(taught(reads), asked, piece) == expected);
    }
  }
}

TEST_CASE("A judge that was saved says the same to the bit, and goes on as if it had not been") {
  for (const auto reads : kAllReads) {
    CAPTURE(static_cast<int>(reads));
    const auto saved = bytes_of(taught(reads));
    const auto once = restored(reads, saved);
    CHECK(bytes_of(*once) == saved);
    CHECK(judge(*once, kAsked) == judge(taught(reads), kAsked));
    const auto twice = restored(reads, bytes_of(*once));
    learn(*once, kCorpus, kTaught, kTaught + 300, 300);
    refresh(*once);
    const auto whole = open(reads);
    learn(*whole, kCorpus, 0, kTaught);
    refresh(*whole);
    learn(*whole, kCorpus, kTaught, kTaught + 300);
    refresh(*whole);
    CHECK(bytes_of(*once) == bytes_of(*whole));
    const auto later = judge(*once, kAsked);
    CHECK(later == judge(*whole, kAsked));
    CHECK(later.qualities != judge(*twice, kAsked).qualities);
  }
}

TEST_CASE("A replay of what was noted gets the same judge with the last model") {
  for (const auto reads : kAllReads) {
    CAPTURE(static_cast<int>(reads));
    const auto stream = open(reads);
    const auto replica = open(reads);
    ReplicaNotes notes(*replica);
    ModelCycle cycle(*stream, &notes);
    const auto teach = [&](std::size_t first, std::size_t last) {
      learn(*stream, kCorpus, first, last);
      learn(*replica, kCorpus, first, last, 31);
    };
    teach(0, 700);
    cycle.begin(PairExtent::kWithoutHeldBack);
    teach(700, 800);  // while the model is built
    CHECK_FALSE(cycle.complete());
    teach(800, kTaught);
    ModelCycle last(*stream);
    ModelCycle last_again(*replica);
    last.begin(PairExtent::kWithoutHeldBack);
    last_again.begin(PairExtent::kWithoutHeldBack);
    teach(kTaught, kTaught + 100);
    CHECK_FALSE(last.complete());
    CHECK_FALSE(last_again.complete());
    REQUIRE(stream->published()->judge != nullptr);
    CHECK(bytes_of(*replica->published()->judge) == bytes_of(*stream->published()->judge));
    CHECK(judge(*replica, kAsked) == judge(*stream, kAsked));
    CHECK(bytes_of(*replica) == bytes_of(*stream));
  }
}

TEST_CASE("State of a stream without a judge is taken by one with, and the reverse") {
  for (const auto reads : kAllReads) {
    CAPTURE(static_cast<int>(reads));
    const auto plain = restored(reads, bytes_of(taught(reads)), false);
    auto expected = judge(taught(reads), kAsked);
    const auto found = judge(*plain, kAsked);
    CHECK(found.scores == expected.scores);
    CHECK(found.qualities.empty());
    const auto again = restored(reads, bytes_of(*plain), true);
    CHECK(judge(*again, kAsked) == found);
    // The texts of the pairs that are held back were not kept: the next model has no judge yet.
    refresh(*again);
    CHECK(again->published()->judge == nullptr);
    learn(*again, kCorpus, kTaught, kTaught + 300);
    refresh(*again);
    CHECK(again->published()->judge != nullptr);
    CHECK(judge(*again, kAsked).qualities.size() == kAsked.x.size());
  }
}

// Restores damaged bytes into a stream. Refused, or what it says is finite.
void check_damaged(phsic::Stream& stream, const std::string& damaged, const Corpus& asked) {
  Reader reader(damaged);
  try {
    stream.restore(reader);
  } catch (const Error&) {
    return;
  }
  const auto found = judge(stream, asked);
  const auto is_share = [](double quality) { return quality >= 0 && quality <= 1; };
  CHECK(std::all_of(found.qualities.begin(), found.qualities.end(), is_share));
  const auto is_finite = [](double value) { return std::isfinite(value); };
  CHECK(std::all_of(found.soft_minima.begin(), found.soft_minima.end(), is_finite));
}

TEST_CASE("A damaged judge is refused, or says something finite") {
  const Corpus asked(3, 6);
  for (const auto reads : {Reads::kHashing, Reads::kViews}) {
    CAPTURE(static_cast<int>(reads));
    const auto saved = bytes_of(taught(reads));
    const auto bytes = bytes_of(*taught(reads).published()->judge);
    const auto begin = saved.find(bytes);
    REQUIRE(begin != std::string::npos);
    const auto stream = open(reads);
    const auto damage = [&](std::size_t at, unsigned char by) {
      CAPTURE(at, static_cast<int>(by));
      auto damaged = saved;
      damaged[at] = static_cast<char>(static_cast<unsigned char>(damaged[at]) ^ by);
      check_damaged(*stream, damaged, asked);
    };
    // It begins with what was fitted. Counts of words, which are most of it, come last.
    const auto& fluency = *taught(reads).published()->judge->reader().fluency();
    Writer counts;
    fluency.x.save(counts);
    fluency.y.save(counts);
    const auto last = begin + bytes.size() - counts.bytes().size();
    const auto runs = static_cast<std::size_t>(reduced(240));
    const auto step = std::max<std::size_t>(1, (last - begin) / runs);
    Random random(reads == Reads::kViews ? 8 : 9);
    for (auto at = begin; at < last; at += 1 + random.below(2 * step)) {
      damage(at, static_cast<unsigned char>(random.bits() | 1U));
      damage(at, 0x40);
    }
    for (std::size_t at = 0; at < 40; ++at) damage(begin + at, 0xff);
    for (std::size_t at = 0; at < begin + bytes.size(); at += 1 + saved.size() / runs) {
      damage(at, 0x7f);
    }
    for (std::size_t size = 0; size < begin + bytes.size(); size += 1 + saved.size() / 30) {
      CAPTURE(size);
      Reader reader(std::span(saved.data(), size));
      CHECK_THROWS_AS(stream->restore(reader), Error);
    }
  }
}

TEST_CASE("Weights whose log odds would overflow are refused") {
  const auto& fitted = taught(Reads::kHashing).published()->judge->fitted();
  const auto saved = bytes_of(taught(Reads::kHashing));
  // The first weight of the first expert, which is saved as its bits.
  const double weight = fitted.experts.front().model.weights.front();
  std::string bits(sizeof weight, '\0');
  std::memcpy(bits.data(), &weight, sizeof weight);
  const auto at = saved.find(bits);
  REQUIRE(at != std::string::npos);
  const auto stream = open(Reads::kHashing);
  for (const double huge : {1e308, -1e308}) {
    auto damaged = saved;
    std::memcpy(damaged.data() + at, &huge, sizeof huge);
    check_damaged(*stream, damaged, kAsked);
  }
}

TEST_CASE("What is refused changes nothing") {
  const auto saved = bytes_of(taught(Reads::kViews));
  const auto stream = restored(Reads::kViews, saved);
  for (const auto cut : {1, 1000, 100000}) {
    Reader reader(std::span(saved.data(), saved.size() - static_cast<std::size_t>(cut)));
    CHECK_THROWS_AS(stream->restore(reader), Error);
    CHECK(bytes_of(*stream) == saved);
  }
}

TEST_CASE("Of few held-back pairs no judge is fitted, and nothing is judged") {
  const auto stream = open(Reads::kHashing);
  learn(*stream, kCorpus, 0, 300);
  REQUIRE(stream->held_back() < 64);
  refresh(*stream);
  CHECK(stream->published()->judge == nullptr);
  const auto found = judge(*stream, kAsked);
  CHECK(found.qualities.empty());
  CHECK(found.scores.size() == kAsked.x.size());
  learn(*stream, kCorpus, 300, 330);
  REQUIRE(stream->held_back() >= 64);
  refresh(*stream);
  CHECK(stream->published()->judge != nullptr);
}

TEST_CASE("Before the first model nothing is judged") {
  const auto stream = open(Reads::kHashing);
  CHECK(judge(*stream, kAsked).qualities.empty());
}

TEST_CASE("The judge of vectors tells pairs from pairs that have another's y") {
  constexpr std::size_t kDim = 12;
  constexpr std::size_t kRows = 1500;
  StreamSpec spec;
  spec.set("encoder", "vectors:dim=12");
  spec.set("judge", "true");
  const auto stream = phsic::Stream::open(spec, EncoderPath());
  Random random(1);
  std::vector<float> x;
  std::vector<float> y;
  for (std::size_t i = 0; i < kRows * kDim; ++i) {
    x.push_back(static_cast<float>(random.normal()));
    y.push_back(x.back() + 0.3F * static_cast<float>(random.normal()));
  }
  // One pair in ten has another's y.
  auto learned = y;
  for (std::size_t i = 0; i + 10 < kRows; i += 10) {
    std::copy_n(y.begin() + static_cast<std::ptrdiff_t>((i + 10) * kDim), kDim,
                learned.begin() + static_cast<std::ptrdiff_t>(i * kDim));
  }
  Batch batch;
  stream->take({x.data(), kRows, kDim}, {learned.data(), kRows, kDim}, batch);
  stream->learn(items_to_learn(batch, 0, kRows), 0, false);
  refresh(*stream);
  const auto judge = stream->published()->judge;
  REQUIRE(judge != nullptr);
  REQUIRE(judge->fitted().experts.size() == 1);
  CHECK(judge->fitted().experts.front().kind->name == "mismatched");
  const auto mean_quality = [&](std::size_t moved) {
    stream->take({x.data(), kRows - moved, kDim}, {y.data() + moved * kDim, kRows - moved, kDim},
                 batch);
    stream->score(batch);
    REQUIRE(batch.judgements.size() == batch.size());
    double sum = 0;
    for (const auto& judgement : batch.judgements) sum += judgement.quality;
    return sum / static_cast<double>(batch.size());
  };
  CAPTURE(mean_quality(0), mean_quality(7));
  CHECK(mean_quality(0) > 0.9);
  CHECK(mean_quality(7) < 0.3);
  CHECK(damage_of(*stream->published())->junk_share == Approx(0.1).margin(0.06));
  // Saved and restored it says the same.
  const double before = mean_quality(3);
  const auto saved = bytes_of(*stream);
  const auto again = phsic::Stream::open(spec, EncoderPath());
  Reader reader(saved);
  again->restore(reader);
  reader.finish();
  CHECK(bytes_of(*again) == saved);
  stream->take({x.data(), kRows - 3, kDim}, {y.data() + 3 * kDim, kRows - 3, kDim}, batch);
  again->score(batch);
  double sum = 0;
  for (const auto& judgement : batch.judgements) sum += judgement.quality;
  CHECK(sum / static_cast<double>(batch.size()) == before);
}

TEST_CASE("A judge by exchange has one expert, encodes no halves, and tells swapped pairs") {
  auto spec = spec_of(Reads::kHashing, true);
  spec.set("judge", "exchanged");
  const auto stream = phsic::Stream::open(spec, EncoderPath());
  learn(*stream, kCorpus, 0, kTaught);
  refresh(*stream);
  const auto& judge_in_use = *stream->published()->judge;
  CHECK(judge_in_use.fitted().experts.size() == 1);
  CHECK_FALSE(judge_in_use.reader().views().front().halves);
  const auto found = judge(*stream, kAsked);
  std::vector<double> good;
  std::vector<double> bad;
  for (std::size_t i = 0; i < found.qualities.size(); ++i) {
    (kAsked.is_good[i] ? good : bad).push_back(found.qualities[i]);
  }
  CHECK(area_under_curve(good, bad) > 0.9);
  CHECK(damage_of(*stream->published())->junk_share == Approx(0.1).margin(0.1));
  // One in two of these is swapped; the stream had one in ten.
  CHECK(std::accumulate(bad.begin(), bad.end(), 0.0) < 0.5 * static_cast<double>(bad.size()));
  CHECK(std::accumulate(good.begin(), good.end(), 0.0) > 0.8 * static_cast<double>(good.size()));
}

TEST_CASE("A judge by exchange says how much of a stream is mismatched, whatever share it is") {
  for (const double swapped : {0.0, 0.2, 0.4, 0.6}) {
    auto spec = spec_of(Reads::kHashing, true);
    spec.set("judge", "exchanged");
    const Corpus corpus(4000, 3, swapped);
    const auto stream = phsic::Stream::open(spec, EncoderPath());
    learn(*stream, corpus, 0, corpus.x.size());
    refresh(*stream);
    CAPTURE(swapped);
    CHECK(damage_of(*stream->published())->junk_share == Approx(swapped).margin(0.12));
  }
}

TEST_CASE("Halves are looked at where that was asked for, and not where it was refused") {
  for (const auto& [reads, wanted, is_wanted] :
       {std::tuple(Reads::kHashing, "auto", true), std::tuple(Reads::kHashing, "false", false),
        std::tuple(Reads::kPivots, "auto", false), std::tuple(Reads::kPivots, "true", true)}) {
    auto spec = spec_of(reads, true);
    spec.set("judge-halves", wanted);
    const auto stream = phsic::Stream::open(spec, EncoderPath());
    learn(*stream, kCorpus, 0, kTaught);
    refresh(*stream);
    CHECK(stream->published()->judge->reader().views().front().halves == is_wanted);
    for (const double quality : judge(*stream, kAsked).qualities) {
      CHECK((quality >= 0 && quality <= 1));
    }
  }
  StreamSpec spec;
  spec.set("judge-halves", "true");
  CHECK_THROWS_WITH(spec.validate(),
                    "judge-halves: found it without a judge, expected one; say `judge: true`");
  CHECK_THROWS_WITH(spec.set("judge-halves", "often"),
                    "judge-halves: found \"often\", expected true, false or auto");
}

TEST_CASE("A judge says how much of a stream is damaged, up to a third of it") {
  for (const double swapped : {0.0, 0.15, 0.3}) {
    const Corpus corpus(4000, 3, swapped);
    const auto stream = open(Reads::kHashing);
    learn(*stream, corpus, 0, corpus.x.size());
    refresh(*stream);
    CAPTURE(swapped);
    const auto facts = damage_of(*stream->published());
    REQUIRE(facts);
    CHECK(facts->junk_share == Approx(swapped).margin(0.12));
    CHECK(facts->is_trusted());
  }
}

TEST_CASE("A batch that was judged and then holds vectors is judged no more") {
  Batch batch;
  const auto& stream = taught(Reads::kHashing);
  const auto x = part_of(kAsked.x, 0, 3);
  const auto y = part_of(kAsked.y, 0, 3);
  stream.encode({x, y, {}}, batch);
  stream.score(batch);
  CHECK(batch.judgements.size() == 3);
  const std::vector<float> numbers(std::size_t{2} * 64, 0.25F);
  stream.take(DenseRows<float>{numbers.data(), 2, 64}, DenseRows<float>{numbers.data(), 2, 64},
              batch);
  stream.score(batch);
  CHECK(batch.scores.size() == 2);
  CHECK(batch.judgement(1) == nullptr);
}

TEST_CASE("Pairs that nothing can read have no quality, and the others keep theirs") {
  const auto& stream = taught(Reads::kPivots);
  const std::vector<std::string_view> x = {kAsked.x[0], "\xff\xfe", kAsked.x[1], kAsked.x[1],
                                           kAsked.x[2]};
  const std::vector<std::string_view> y = {kAsked.y[0], kAsked.y[0], kAsked.y[1], "\xff",
                                           kAsked.y[2]};
  Batch batch;
  stream.encode({x, y, {}}, batch);
  stream.score(batch);
  REQUIRE(batch.judgements.size() == 5);
  REQUIRE(batch.problems.size() == 2);
  const auto expected = judge(stream, kAsked);
  for (std::size_t i = 0; i < 5; ++i) {
    CHECK(std::isnan(batch.judgements[i].quality) == (i % 2 == 1));
    CHECK(std::isnan(batch.judgements[i].soft_minimum) == (i % 2 == 1));
    if (i % 2 == 0) CHECK(batch.judgements[i].quality == expected.qualities[i / 2]);
  }
}

TEST_CASE("What a judge says of a pair that one view cannot read depends on that pair alone") {
  Corpus asked(100, 7);
  for (std::size_t i = 0; i < 100; i += 3) asked.y[i] += " \xff";
  const auto expected = judge(taught(Reads::kViews), asked, 100);
  REQUIRE(expected.qualities.size() == 100);
  for (const double quality : expected.qualities) CHECK_FALSE(std::isnan(quality));
  for (const std::size_t piece : {1, 7}) {
    CHECK(judge(taught(Reads::kViews), asked, piece) == expected);
  }
}

TEST_CASE("A judge is fitted to pairs that one view cannot read, too") {
  Corpus corpus(600, 8);
  for (std::size_t i = 0; i < 600; i += 5) corpus.x[i] += " \xfe";
  const auto stream = open(Reads::kViews);
  learn(*stream, corpus, 0, 600);
  refresh(*stream);
  REQUIRE(stream->published()->judge != nullptr);
  for (const double quality : judge(*stream, corpus).qualities) CHECK(quality >= 0);
}

TEST_CASE("An explanation says of a pair what its score says") {
  for (const auto reads : {Reads::kHashing, Reads::kViews}) {
    const auto expected = judge(taught(reads), kAsked);
    for (std::size_t i = 0; i < 5; ++i) {
      const auto found = taught(reads).explain(kAsked.x[i], kAsked.y[i], {.top = 3});
      REQUIRE(found);
      REQUIRE(found->judgement);
      CHECK(found->judgement->quality == expected.qualities[i]);
      CHECK(found->judgement->kind == expected.kinds[i]);
    }
  }
}

TEST_CASE("Components have names, and those of several views the view's name before them") {
  const auto& one = taught(Reads::kHashing).published()->judge->reader();
  const auto& several = taught(Reads::kViews).published()->judge->reader();
  CHECK(one.size() == kWholeComponents + kHalvesComponents + kSurfaceComponents);
  for (const auto* reader : {&one, &several}) {
    std::set<std::string> names;
    for (std::size_t i = 0; i < reader->size(); ++i) {
      CHECK(names.insert(reader->name_of(i)).second);
      CHECK_FALSE(reader->about(i).empty());
    }
  }
  CHECK(one.name_of(0) == "score");
  CHECK(several.name_of(0).ends_with(": score"));
  // Kernels on texts are not asked about halves.
  for (const auto& view : several.views()) CHECK(view.halves == (view.name == "words"));
}

TEST_CASE("Streams with a judge that were merged go on with one of the pairs of both") {
  const auto whole = open(Reads::kHashing);
  learn(*whole, kCorpus, 0, 700);
  refresh(*whole);
  const auto other = open(Reads::kHashing);
  learn(*other, kCorpus, 700, kTaught);
  const auto before = judge(*whole, kAsked);
  whole->merge(*other);
  CHECK(judge(*whole, kAsked) == before);
  learn(*whole, kCorpus, kTaught, kTaught + 300);
  refresh(*whole);
  REQUIRE(whole->published()->judge != nullptr);
  const auto after = judge(*whole, kAsked);
  CHECK(after.qualities.size() == kAsked.x.size());
  CHECK(after.qualities != before.qualities);
  const auto again = restored(Reads::kHashing, bytes_of(*whole));
  CHECK(judge(*again, kAsked) == after);
}

TEST_CASE("A stream that counts cannot have a judge") {
  StreamSpec spec;
  spec.set("estimator", "pmi");
  spec.set("judge", "true");
  CHECK_THROWS_WITH(spec.validate(), Catch::Matchers::Contains("judge"));
}

TEST_CASE("A cut by quality is told with the model that comes into use, and with the one that is") {
  const auto stream = open(Reads::kHashing);
  stream->cut_by_quality(true);
  stream->choose_cuts([](const Calibration&) { return 0.5; });
  learn(*stream, kCorpus, 0, kTaught);
  refresh(*stream);
  CHECK(stream->published()->cuts_by_quality);
  CHECK(stream->published()->cut == 0.5);
  stream->cut_by_quality(false);
  stream->set_cut(3);
  CHECK_FALSE(stream->published()->cuts_by_quality);
  CHECK(stream->published()->cut == 3);
  CHECK(stream->published()->judge != nullptr);
}

TEST_CASE("A half that is what the whole has beyond the other one is as if it had been encoded") {
  const auto& stream = taught(Reads::kHashing);
  const auto judge = stream.published()->judge;
  const auto& view = judge->reader().views().front();
  const auto& model = *view.model;
  const auto& estimator = *model.estimator();
  // One that can only be cut between characters, and one that cannot be cut, beside usual ones.
  std::vector<std::string> texts = {"badefunakilogumi", "a", "", "fun funafun"};
  for (std::size_t i = 0; i < 40; ++i) texts.push_back(kAsked.x[i]);
  const auto views = part_of(texts, 0, texts.size());
  Encoded wholes;
  view.x.encode(views, wholes);
  const auto rank = estimator.rank();
  const auto project = [&](const Encoded& items) {
    FeatureBlock<float> block;
    Workspace workspace;
    model.map_x()->map_rows(items.view(), block, workspace);
    std::vector<float> out(items.size() * rank);
    static_cast<void>(estimator.project_rows_x(block.features, out.data(), workspace));
    return out;
  };
  const auto coordinates = project(wholes);
  HalvesScratch scratch;
  std::vector<float> found;
  const HalfCoordinates halves(view.x, *model.map_x(), estimator, true);
  halves.find(views, wholes.view(), coordinates.data(), found, scratch);
  std::vector<std::string_view> parts;
  for (const auto text : views) {
    const auto [first, second] = text::halves_of(text);
    parts.push_back(first);
    parts.push_back(second);
  }
  Encoded encoded;
  view.x.encode(parts, encoded);
  const auto expected = project(encoded);
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    CAPTURE(i / (2 * rank), i % (2 * rank));
    CHECK(found[i] == Approx(expected[i]).epsilon(1e-3).margin(1e-4));
  }
  // Each by itself gives the same bits.
  for (std::size_t i = 0; i < texts.size(); ++i) {
    std::vector<float> alone;
    halves.find({&views[i], 1}, slice(wholes.view(), i, 1), coordinates.data() + i * rank, alone,
                scratch);
    CHECK(std::equal(alone.begin(), alone.end(),
                     found.begin() + static_cast<std::ptrdiff_t>(2 * i * rank)));
  }
}

TEST_CASE("A pair that was learned does not vouch for its own quality") {
  // Few pairs for so many dimensions: each has taught the model much of what it says of it.
  constexpr std::size_t kFew = 420;
  constexpr std::size_t kMeasured = 300;
  auto spec = spec_of(Reads::kHashing, true);
  spec.set("rank", "0");
  const auto stream = phsic::Stream::open(spec, EncoderPath());
  learn(*stream, kCorpus, 0, kFew);
  refresh(*stream);
  const auto mean_minimum = [&](std::size_t first, std::uint8_t times) {
    const auto x = part_of(kCorpus.x, first, kMeasured);
    const auto y = part_of(kCorpus.y, first, kMeasured);
    Batch batch;
    stream->encode({x, y, {}}, batch);
    if (times > 0) batch.was_learned.assign(kMeasured, times);
    stream->score(batch);
    double sum = 0;
    for (const auto& judgement : batch.judgements) sum += judgement.soft_minimum;
    return sum / kMeasured;
  };
  const double unknown = mean_minimum(kTaught, 0);
  const double vouching = mean_minimum(0, 0);
  const double learned = mean_minimum(0, 1);
  CAPTURE(unknown, vouching, learned);
  CHECK(std::abs(learned - unknown) < std::abs(vouching - unknown) / 2);
}

}  // namespace
}  // namespace phsic::test
