// What a stream whose kernel takes texts keeps of long ones, in bytes.
#include <catch2/catch.hpp>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "core/random.h"
#include "engine/stream.h"
#include "tests/core/allocations.h"

namespace phsic::test {
namespace {

std::unique_ptr<phsic::Stream> open_stream() {
  StreamSpec spec;
  for (const auto& [option, value] : std::vector<std::pair<const char*, const char*>>{
           {"kernel", "spectrum:n=3"}, {"pivots", "16"}, {"window", "512"}, {"rank", "8"}}) {
    spec.set(option, value);
  }
  return phsic::Stream::open(spec, EncoderPath());
}

std::string random_text(std::size_t bytes, Random& random) {
  std::string text(bytes, ' ');
  for (char& c : text) c = static_cast<char>('!' + random.below(90));
  return text;
}

void learn(phsic::Stream& stream, std::string_view x, std::string_view y) {
  Batch batch;
  stream.encode({{&x, 1}, {&y, 1}, {}}, batch);
  REQUIRE(batch.problems.empty());
  LearnBatch learn_batch;
  learn_batch.x = batch.x.view();
  learn_batch.y = batch.y.view();
  learn_batch.x_texts = &x;
  learn_batch.y_texts = &y;
  stream.learn(learn_batch, 0, false);
}

// The largest number of bytes in use during the work.
std::size_t refresh(phsic::Stream& stream) {
  peak_bytes = live_bytes.load();
  const auto refresh = stream.freeze(phsic::Stream::Extent::kWithoutHeldBack);
  refresh->build();
  stream.adopt(*refresh);
  return peak_bytes;
}

double score(const phsic::Stream& stream, std::string_view x, std::string_view y) {
  Batch batch;
  stream.encode({{&x, 1}, {&y, 1}, {}}, batch);
  stream.score(batch);
  return batch.scores.front();
}

TEST_CASE("Of a long text a stream keeps text-bytes, and forgets them in the end") {
  constexpr std::size_t kPairs = 100;
  constexpr std::size_t kLong = 200'000;
  // The size of all texts that are kept, if each were kept once.
  constexpr std::size_t kOnce = kPairs * 2 * StreamSpec::kTextBytes;
  Random random(4);
  const std::size_t before = live_bytes;
  const auto stream = open_stream();
  for (std::size_t i = 0; i < kPairs; ++i) {
    learn(*stream, random_text(kLong, random), random_text(kLong, random));
  }
  CHECK(live_bytes - before < 4 * kOnce);
  // 16 bytes for each gram of one side, and room for copies.
  CHECK(refresh(*stream) - before < 16 * kOnce);
  CHECK(live_bytes - before < 10 * kOnce);

  const auto learn_short_ones = [](phsic::Stream& learning) {
    Random texts(6);
    for (int i = 0; i < 2'000; ++i) learn(learning, random_text(20, texts), random_text(20, texts));
    static_cast<void>(refresh(learning));
  };
  learn_short_ones(*stream);
  const std::size_t after_long_ones = live_bytes - before;
  const std::size_t before_other = live_bytes;
  const auto other = open_stream();
  learn_short_ones(*other);
  CHECK(after_long_ones < live_bytes - before_other + kOnce / 2);
}

TEST_CASE("What is beyond text-bytes changes no score") {
  Random random(5);
  const auto stream = open_stream();
  std::string topic;
  for (int i = 0; i < 300; ++i) {
    topic = random_text(6, random);
    learn(*stream, topic + topic, topic + "!");
  }
  static_cast<void>(refresh(*stream));
  // The end would part a character of three bytes.
  const auto x = random_text(StreamSpec::kTextBytes - 1, random);
  const auto whole = score(*stream, x, "abc");
  CHECK(std::isfinite(whole));
  CHECK(score(*stream, x + "\u516b", "abc") == whole);
  CHECK(score(*stream, x + "\u516b" + random_text(9'000, random), "abc") == whole);
  CHECK(score(*stream, topic + topic, topic + "!") != whole);
}

}  // namespace
}  // namespace phsic::test
