// Streams with several views, held against streams with one and against each other.
#include "engine/view_stream.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/model.h"
#include "core/random.h"
#include "engine/learn_items.h"
#include "engine/model_cycle.h"
#include "tests/engine/replica_notes.h"

namespace phsic::test {
namespace {

// Kernels on texts need no plugin.
constexpr const char* kLetters = R"({"name":"letters","kernel":"spectrum:n=1"})";
constexpr const char* kTwos = R"({"name":"twos","kernel":"spectrum:n=2"})";
// All texts of the tests begin with the same 16 bytes.
constexpr const char* kBlind = R"({"name":"blind","kernel":"spectrum:n=2","text-bytes":"16"})";
constexpr const char* kBeginning = "0123456789abcdef";

std::string list_of(const std::vector<std::string>& views) {
  std::string list;
  for (const auto& view : views) list += (list.empty() ? "" : ",") + view;
  return "[" + list + "]";
}

std::unique_ptr<phsic::Stream> stream_of(const std::vector<std::string>& views,
                                         std::uint64_t seed = 1) {
  StreamSpec spec;
  spec.set("pivots", "24");
  spec.set("held-back", "256");
  spec.set("views", list_of(views));
  spec.seed = seed;
  spec.validate();
  return phsic::Stream::open(spec, EncoderPath());
}

// Words of x and y that belong together, mixed up with others.
struct Pairs {
  Pairs(std::size_t count, std::uint64_t seed) {
    Random random(seed);
    for (std::size_t i = 0; i < count; ++i) {
      const auto topic = static_cast<char>('a' + random.below(12));
      const auto noise = [&] { return static_cast<char>('a' + random.below(26)); };
      x.emplace_back(kBeginning).append({topic, noise(), topic, noise()});
      y.emplace_back(kBeginning).append({static_cast<char>(topic + 12), noise()});
    }
  }

  [[nodiscard]] std::vector<std::string_view> views_of(const std::vector<std::string>& texts,
                                                       std::size_t first, std::size_t count) const {
    const auto begin = texts.begin() + static_cast<std::ptrdiff_t>(first);
    return {begin, begin + static_cast<std::ptrdiff_t>(count)};
  }

  std::vector<std::string> x;
  std::vector<std::string> y;
};

constexpr std::uint8_t kAllViews = 0xff;

// Learns pairs first .. last in pieces, with new models where they are due. Only the views in
// `mostly` see more than every fifth pair.
void learn(phsic::Stream& stream, const Pairs& pairs, std::size_t first, std::size_t last,
           std::size_t piece = 100, std::uint8_t mostly = kAllViews) {
  ModelCycle cycle(stream);
  Batch batch;
  while (first < last) {
    const auto count = std::min(piece, last - first);
    const auto x = pairs.views_of(pairs.x, first, count);
    const auto y = pairs.views_of(pairs.y, first, count);
    stream.encode({x, y, {}}, batch);
    for (std::size_t i = 0; mostly != kAllViews && i < count; ++i) {
      if ((first + i) % 5 != 0) batch.readable[i] &= mostly;
    }
    auto items = items_to_learn(batch, 0, count);
    items.x_texts = x.data();
    items.y_texts = y.data();
    for (std::size_t row = 0; row < count;) {
      row = cycle.learn(items, row);
      if (cycle.is_due()) cycle.refresh(PairExtent::kWithoutHeldBack);
    }
    first += count;
  }
}

struct Scored {
  std::vector<double> scores;
  std::vector<double> percentiles;
};

Scored score(const phsic::Stream& stream, const Pairs& pairs) {
  Batch batch;
  const auto x = pairs.views_of(pairs.x, 0, pairs.x.size());
  const auto y = pairs.views_of(pairs.y, 0, pairs.y.size());
  stream.encode({x, y, {}}, batch);
  stream.score(batch);
  Scored scored{batch.scores, {}};
  for (const double one : batch.scores) {
    scored.percentiles.push_back(batch.published->calibration().percentile(one).value());
  }
  return scored;
}

std::vector<double> weights_of(const phsic::Stream& stream) {
  std::vector<double> weights;
  for (const auto& part : stream.published()->viewed->blend.parts()) weights.push_back(part.weight);
  return weights;
}

std::string bytes_of(const phsic::Stream& stream) {
  Writer writer;
  stream.state()->save(writer);
  return writer.bytes();
}

const Pairs kTaught(1500, 1);
const Pairs kAsked(60, 2);

TEST_CASE("A stream of one view is the stream that it would be without") {
  const auto viewed = stream_of({kTwos});
  StreamSpec spec;
  spec.set("pivots", "24");
  spec.set("held-back", "256");
  spec.set("kernel", "spectrum:n=2");
  const auto plain = phsic::Stream::open(spec, EncoderPath());
  CHECK(viewed->identity() == plain->identity());
  learn(*viewed, kTaught, 0, 1500);
  learn(*plain, kTaught, 0, 1500);
  CHECK(bytes_of(*viewed) == bytes_of(*plain));
}

TEST_CASE("Views that both help both count, and the blend is measured") {
  const auto stream = stream_of({kLetters, kTwos});
  learn(*stream, kTaught, 0, 1500);
  const auto published = stream->published();
  double sum = 0;
  for (const double weight : weights_of(*stream)) {
    CHECK(weight > 0);
    sum += weight;
  }
  CHECK(sum == Approx(1));
  REQUIRE(published->facts()->accuracy);
  CHECK(published->facts()->accuracy->auc > 0.8);
  CHECK(published->facts()->pairs > 1000);
  CHECK(published->calibration().matched().size() > 200);
}

TEST_CASE("A view with weight 0 is as if it were not there") {
  const auto with = stream_of({kBlind, kTwos});
  const auto without = stream_of({kTwos});
  learn(*with, kTaught, 0, 1500);
  learn(*without, kTaught, 0, 1500);
  CHECK(weights_of(*with) == std::vector<double>{0, 1});
  const auto scored = score(*with, kAsked);
  const auto expected = score(*without, kAsked);
  CHECK(scored.scores == expected.scores);
  CHECK(scored.percentiles == expected.percentiles);
  const auto found = with->explain(kAsked.x[0], kAsked.y[0], {.top = 3});
  const auto as = without->explain(kAsked.x[0], kAsked.y[0], {.top = 3});
  REQUIRE(found);
  REQUIRE(as);
  CHECK(found->score == as->score);
  CHECK(found->rest == as->rest);
  REQUIRE(found->raise.size() == as->raise.size());
  for (std::size_t i = 0; i < as->raise.size(); ++i) {
    CHECK(found->raise[i].contribution == as->raise[i].contribution);
    CHECK(found->raise[i].number == as->raise[i].number);
  }
}

TEST_CASE("The order in which views are written makes no difference") {
  const auto forth = stream_of({kLetters, kTwos});
  const auto back = stream_of({kTwos, kLetters});
  CHECK(forth->identity() == back->identity());
  learn(*forth, kTaught, 0, 1500);
  learn(*back, kTaught, 0, 1500);
  CHECK(bytes_of(*forth) == bytes_of(*back));
}

TEST_CASE("However pairs were batched, a stream with views has learned the same") {
  const auto expected = stream_of({kLetters, kTwos});
  learn(*expected, kTaught, 0, 1500, 1500);
  for (const std::size_t piece : {1, 63, 256, 700}) {
    CAPTURE(piece);
    const auto stream = stream_of({kLetters, kTwos});
    learn(*stream, kTaught, 0, 1500, piece);
    CHECK(bytes_of(*stream) == bytes_of(*expected));
  }
}

TEST_CASE("A stream with views goes on from its saved state bit for bit") {
  const auto whole = stream_of({kBlind, kLetters, kTwos});
  learn(*whole, kTaught, 0, 1500);
  const auto first = stream_of({kBlind, kLetters, kTwos});
  learn(*first, kTaught, 0, 700);
  const auto saved = bytes_of(*first);
  const auto second = stream_of({kBlind, kLetters, kTwos});
  Reader reader(saved);
  second->restore(reader);
  CHECK(score(*second, kAsked).scores == score(*first, kAsked).scores);
  learn(*second, kTaught, 700, 1500);
  CHECK(bytes_of(*second) == bytes_of(*whole));
}

TEST_CASE("Where a view sees few of the pairs, all that is learned is still the same") {
  constexpr std::uint8_t kMostly = 0b10;  // twos, and letters now and then
  const auto whole = stream_of({kLetters, kTwos});
  learn(*whole, kTaught, 0, 1500, 1500, kMostly);
  CHECK(whole->pairs() == 1500);
  // Letters have learned a fifth, and hold back older pairs than twos.
  CHECK(whole->held_back() == 256);
  for (const std::size_t piece : {7, 300}) {
    CAPTURE(piece);
    const auto stream = stream_of({kLetters, kTwos});
    learn(*stream, kTaught, 0, 1500, piece, kMostly);
    CHECK(bytes_of(*stream) == bytes_of(*whole));
  }
  // Shortly before a model is due for the views by themselves, or for the stream.
  for (const std::size_t pause : {300, 620, 1000, 1279}) {
    CAPTURE(pause);
    const auto first = stream_of({kLetters, kTwos});
    learn(*first, kTaught, 0, pause, 100, kMostly);
    const auto saved = bytes_of(*first);
    const auto second = stream_of({kLetters, kTwos});
    Reader reader(saved);
    second->restore(reader);
    CHECK(second->until_refresh() == first->until_refresh());
    learn(*second, kTaught, pause, 1500, 100, kMostly);
    CHECK(bytes_of(*second) == bytes_of(*whole));
  }
}

TEST_CASE("Damaged state of views is refused, and nothing changes") {
  const auto stream = stream_of({kLetters, kTwos});
  learn(*stream, kTaught, 0, 300);
  const auto saved = bytes_of(*stream);
  const auto other = stream_of({kLetters, kTwos});
  const auto before = bytes_of(*other);
  for (std::size_t length = 0; length < saved.size(); length += 1 + saved.size() / 97) {
    CAPTURE(length);
    Reader reader(std::span(saved.data(), length));
    CHECK_THROWS_AS(other->restore(reader), Error);
  }
  CHECK(bytes_of(*other) == before);
}

TEST_CASE("A replay of what was noted learns the same, and then the next model is the same") {
  const auto stream = stream_of({kLetters, kTwos});
  const auto replica = stream_of({kLetters, kTwos});
  ReplicaNotes notes(*replica);
  ModelCycle cycle(*stream, &notes);
  const auto teach = [&](std::size_t first, std::size_t last) {
    Batch batch;
    const auto x = kTaught.views_of(kTaught.x, first, last - first);
    const auto y = kTaught.views_of(kTaught.y, first, last - first);
    for (auto* one : {stream.get(), replica.get()}) {
      one->encode({x, y, {}}, batch);
      one->learn(items_to_learn(batch, 0, last - first), 0, false);
    }
  };
  teach(0, 600);
  cycle.refresh(PairExtent::kWithoutHeldBack);
  teach(600, 1400);
  CHECK(replica->until_refresh() == stream->until_refresh());
  for (auto* one : {stream.get(), replica.get()}) {
    ModelCycle(*one).refresh(PairExtent::kWithoutHeldBack);
  }
  CHECK(score(*replica, kAsked).scores == score(*stream, kAsked).scores);
  CHECK(weights_of(*replica) == weights_of(*stream));
}

TEST_CASE("Streams with views that were merged have learned the pairs of both") {
  const auto whole = stream_of({kLetters, kTwos});
  learn(*whole, kTaught, 0, 800);
  const auto other = stream_of({kLetters, kTwos}, 2);
  learn(*other, kTaught, 800, 1500);
  whole->merge(*other);
  CHECK(whole->pairs() == 1500);
  CHECK(whole->until_refresh() == 0);
  ModelCycle(*whole).refresh(PairExtent::kWithoutHeldBack);
  CHECK(whole->published()->facts()->pairs == 1500);
  CHECK(whole->published()->facts()->accuracy->auc > 0.8);
  CHECK_THROWS_WITH(whole->merge(*stream_of({kBlind, kTwos})), Catch::Contains("other views"));
}

// Pairs whose first 16 bytes, all that the view "blind" looks at, are of no use.
Pairs with_noise(std::size_t count, std::uint64_t seed) {
  Pairs pairs(count, seed);
  Random random(seed + 1);
  for (auto* texts : {&pairs.x, &pairs.y}) {
    for (auto& text : *texts) {
      for (std::size_t i = 0; i < 16; ++i) text[i] = static_cast<char>('0' + random.below(4));
    }
  }
  return pairs;
}

TEST_CASE("Weights that too few pairs could choose have no claim to stay") {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    CAPTURE(seed);
    const auto pairs = with_noise(250, seed);
    const auto stream = stream_of({kBlind, kLetters});
    const auto replica = stream_of({kBlind, kLetters});
    learn(*stream, pairs, 0, 100);
    learn(*replica, pairs, 0, 100);
    ReplicaNotes notes(*replica);
    ModelCycle(*stream, &notes).refresh(PairExtent::kWithoutHeldBack);
    REQUIRE(weights_of(*stream) == std::vector<double>{0.5, 0.5});
    for (auto* one : {stream.get(), replica.get()}) {
      learn(*one, pairs, 100, 250);
      ModelCycle(*one).refresh(PairExtent::kWithoutHeldBack);
      CHECK(weights_of(*one).front() < 0.4);
    }
    CHECK(weights_of(*replica) == weights_of(*stream));
  }
}

TEST_CASE("A view with weight 0 scores what no view that counts finds anything in") {
  constexpr const char* kHash = R"({"name":"hash","encoder":"hashing:dim=64"})";
  auto pairs = with_noise(1500, 2);
  for (std::size_t i = 0; i < 1500; ++i) {
    // A word on each side that the encoder can know.
    pairs.x[i].append(" ").append(4, pairs.x[i][16]);
    pairs.y[i].append(" ").append(4, pairs.y[i][16]);
  }
  const auto stream = stream_of({kBlind, kHash});
  const auto blind = stream_of({kBlind});
  learn(*stream, pairs, 0, 1500);
  learn(*blind, pairs, 0, 1500);
  REQUIRE(weights_of(*stream) == std::vector<double>{0, 1});
  Pairs asked = with_noise(20, 4);
  for (std::size_t i = 0; i < 20; i += 2) asked.x[i] = std::string(20, ' ');
  const auto found = score(*stream, asked).scores;
  const auto own = score(*blind, asked).scores;
  const auto& blend = stream->published()->viewed->blend;
  for (std::size_t i = 0; i < 20; i += 2) CHECK(found[i] == blend.score_by(0, own[i]));
  for (std::size_t i = 1; i < 20; i += 2) CHECK(found[i] != blend.score_by(0, own[i]));
  Batch ranked;
  for (std::size_t i = 0; i < 20; ++i) {
    const std::string_view y = asked.y[i];
    stream->rank(asked.x[i], {&y, 1}, ranked);
    CHECK(ranked.scores[0] == found[i]);
    CHECK(ranked.unasked.size() == (i % 2 == 0 ? 1 : 0));
    CHECK(stream->explain(asked.x[i], y, {.top = 3})->score == Approx(found[i]));
  }
  // The same after it was kept.
  const auto kept = stream_of({kBlind, kHash});
  const auto saved = bytes_of(*stream);
  Reader reader(saved);
  kept->restore(reader);
  CHECK(score(*kept, asked).scores == found);
}

TEST_CASE("A merged stream has the weights of the one that has learned more") {
  const auto pairs = with_noise(1220, 3);
  const auto large = stream_of({kBlind, kLetters}, 2);
  learn(*large, pairs, 0, 1200);
  REQUIRE(weights_of(*large).front() < 0.4);
  const auto small = stream_of({kBlind, kLetters});
  learn(*small, pairs, 1200, 1220);
  const auto copy = stream_of({kBlind, kLetters}, 2);
  const auto saved = bytes_of(*large);
  Reader reader(saved);
  copy->restore(reader);
  small->merge(*copy);
  ModelCycle(*small).refresh(PairExtent::kWithoutHeldBack);
  CHECK(weights_of(*small) == weights_of(*large));
}

TEST_CASE("An explanation says what each view says, and adds up") {
  const auto stream = stream_of({kBlind, kLetters, kTwos});
  learn(*stream, kTaught, 0, 1500);
  const auto scored = score(*stream, kAsked).scores;
  const auto found = stream->explain(kAsked.x[0], kAsked.y[0], {.top = 5000});
  REQUIRE(found);
  CHECK(found->score == Approx(scored[0]));
  REQUIRE(found->views.size() == 3);
  CHECK(found->views[0].name == "blind");
  CHECK(found->views[0].weight == 0);
  double sum = found->rest;
  for (const auto* parts : {&found->raise, &found->lower}) {
    for (const auto& part : *parts) {
      CHECK(part.view != "blind");
      sum += part.contribution;
    }
  }
  CHECK(sum == Approx(found->score).margin(1e-3));
}

TEST_CASE("Candidates are ranked by the scores that their pairs have") {
  const auto stream = stream_of({kLetters, kTwos});
  learn(*stream, kTaught, 0, 1500);
  const auto y = kAsked.views_of(kAsked.y, 0, 10);
  Batch ranked;
  stream->rank(kAsked.x[0], y, ranked);
  CHECK(ranked.problems.empty());
  const std::vector<std::string_view> x(10, kAsked.x[0]);
  Batch batch;
  stream->encode({x, y, {}}, batch);
  stream->score(batch);
  CHECK(ranked.scores == batch.scores);
}

TEST_CASE("Before there is a model every pair scores 0, and vectors are refused") {
  const auto stream = stream_of({kLetters, kTwos});
  Batch batch;
  const auto x = kAsked.views_of(kAsked.x, 0, 3);
  stream->encode({x, kAsked.views_of(kAsked.y, 0, 3), {}}, batch);
  stream->score(batch);
  CHECK(batch.scores == std::vector<double>(3, 0));
  CHECK(batch.published->number == 0);
  const float value = 1;
  CHECK_THROWS_WITH(stream->take({&value, 1, 1}, {&value, 1, 1}, batch),
                    Catch::Contains("expected texts"));
}

TEST_CASE("A view learns what it can read, also where it finds nothing") {
  const auto stream = stream_of({R"({"name":"hash","encoder":"hashing:dim=64"})", kLetters});
  auto pairs = Pairs(600, 3);
  for (std::size_t i = 0; i < 600; i += 3) pairs.x[i] = " ";
  learn(*stream, pairs, 0, 600);
  ModelCycle(*stream).refresh(PairExtent::kAll);
  const auto& viewed = *stream->published()->viewed;
  for (const auto& part : viewed.parts) CHECK(part->facts()->pairs == 600);
  Batch batch;
  stream->encode({pairs.views_of(pairs.x, 0, 3), pairs.views_of(pairs.y, 0, 3), {}}, batch);
  CHECK(batch.readable == std::vector<std::uint8_t>{0b11, 0b11, 0b11});
  CHECK(batch.seen == std::vector<std::uint8_t>{0b10, 0b11, 0b11});
}

TEST_CASE("Items that wait keep what each view can read") {
  const auto stream = stream_of({kLetters, kTwos});
  Batch batch;
  const auto x = kAsked.views_of(kAsked.x, 0, 20);
  const auto y = kAsked.views_of(kAsked.y, 0, 20);
  stream->encode({x, y, {}}, batch);
  batch.readable[3] = 0b10;
  batch.readable[5] = 0;
  LearnItems items;
  std::size_t taken = 0;
  for (std::size_t i = 0; i < 20; ++i) taken += items.add(batch, i) ? 1 : 0;
  CHECK(taken == 19);
  const auto waiting = items.view(0, taken);
  CHECK(waiting.size() == 19);
  CHECK(waiting.readable[3] == 0b10);
  CHECK(std::get<TextRows>(waiting.views[1].x).text(3) == x[3]);
  stream->learn(waiting, 0, false);
  CHECK(stream->pairs() == 19);
  CHECK(items.byte_count() > 0);
  items.clear();
  CHECK(items.view(0, 0).size() == 0);
}

TEST_CASE("What is wrong with views is said with what was expected") {
  const std::pair<const char*, const char*> cases[] = {
      {"{}", "expected a list of views"},
      {"[3]", "expected views with encoders"},
      {R"([{"kernel":"cosine"}])", "found a view without an encoder"},
      {R"([{"encoder":"hashing","half-life":"3"}])", "a view has no option half-life"},
      {R"([{"encoder":"hashing"},{"encoder":"hashing"}])",
       "the view hashing twice, expected it once"},
      {R"([{"encoder":"hashing"},{"encoder":"hashing","ridge":"1"}])", "two views named hashing"},
      {R"([{"encoder":1}])", "expected a text"}};
  for (const auto& [text, problem] : cases) {
    CAPTURE(text);
    CHECK_THROWS_WITH(StreamSpec().set("views", text), Catch::Contains(problem));
  }
  StreamSpec counting;
  counting.set("views", R"([{"encoder":"hashing","estimator":"pmi"}])");
  CHECK_THROWS_WITH(counting.validate(), Catch::Contains("found pmi"));
  StreamSpec counted;
  counted.set("estimator", "pmi");
  counted.set("views", R"([{"encoder":"hashing","estimator":"auto"}])");
  CHECK_THROWS_WITH(counted.validate(), Catch::Contains("found pmi with views"));
  StreamSpec unused;
  unused.set("kernel", "spectrum:n=3");
  unused.set("views", R"(["hashing",{"name":"b","kernel":"cosine"}])");
  CHECK_THROWS_WITH(unused.validate(), Catch::Contains("beside the encoder hashing"));
  CHECK_THROWS_WITH(stream_of({R"({"name":"a","encoder":"hashing"})",
                               R"({"name":"b","encoder":"hashing:dim=1024"})"}),
                    Catch::Contains("found a and b, which are the same"));
  CHECK_NOTHROW(stream_of({R"({"name":"a","encoder":"hashing:dim=16"})",
                           R"({"name":"b","encoder":"hashing:dim=16","ridge":"3"})"}));
  std::string nine;
  for (int i = 0; i < 9; ++i) add_view("hashing:seed=" + std::to_string(i), nine);
  CHECK_THROWS_WITH(parse_views(nine), Catch::Contains("expected 8 at most"));
  std::string two;
  add_view("hashing", two);
  add_view("hashing:dim=64", two);
  const auto views = parse_views(two);
  CHECK(views[0].name == "hashing");
  CHECK(views[1].name == "hashing:dim=64");
}

}  // namespace
}  // namespace phsic::test
