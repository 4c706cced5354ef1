#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "core/model.h"
#include "core/refresh.h"
#include "engine/stream.h"

namespace phsic::test {
namespace {

std::unique_ptr<phsic::Stream> stream_with(std::uint64_t refresh_pairs) {
  StreamSpec spec;
  spec.x_kernel = Kernel::spectrum(2);
  spec.y_kernel = Kernel::spectrum(2);
  spec.refresh_pairs = refresh_pairs;
  return phsic::Stream::open(spec, EncoderPath());
}

void learn(phsic::Stream& stream, std::size_t pairs) {
  for (std::size_t i = 0; i < pairs; ++i) {
    const auto x = "x" + std::to_string(i % 7);
    const auto y = "y" + std::to_string(i % 7);
    const std::vector<std::string_view> of_x = {x};
    const std::vector<std::string_view> of_y = {y};
    Batch batch;
    stream.encode({of_x, of_y, {}}, batch);
    LearnBatch learn_batch;
    learn_batch.x = batch.x.view();
    learn_batch.y = batch.y.view();
    stream.learn(learn_batch, 0, false);
  }
}

TEST_CASE("No model is due from fewer pairs than can be measured") {
  for (const std::uint64_t every : {20, 160, 300}) {
    CAPTURE(every);
    const auto stream = stream_with(every);
    CHECK(stream->until_refresh() == std::max(every, kFewestMeasured));
    learn(*stream, 159);
    CHECK_FALSE(stream->is_measurable());
    CHECK(stream->until_refresh() > 0);
    learn(*stream, 1);
    CHECK(stream->is_measurable());
    CHECK((stream->until_refresh() == 0) == (every <= kFewestMeasured));
  }
}

TEST_CASE("A model that is asked for is built, of however few pairs") {
  const auto stream = stream_with(20);
  learn(*stream, 20);
  const auto refresh = stream->freeze(phsic::Stream::Extent::kWithoutHeldBack);
  refresh->build();
  stream->adopt(*refresh);
  CHECK(stream->published()->model->facts().pairs == 20);
  // The next model that the stream builds by itself still waits for enough pairs.
  CHECK(stream->until_refresh() == 140);
}

// A stream's scores of pairs that it has learned, each `times` often as far as it is told.
struct Relearned {
  explicit Relearned(Forgetting forgetting = {}) {
    StreamSpec spec;
    spec.x_kernel = Kernel::spectrum(2);
    spec.y_kernel = Kernel::spectrum(2);
    spec.forgetting = forgetting;
    stream = phsic::Stream::open(spec, EncoderPath());
    learn(*stream, 200);
    const auto refresh = stream->freeze(phsic::Stream::Extent::kAll);
    refresh->build();
    stream->adopt(*refresh);
  }

  std::vector<double> scores(const std::vector<std::uint8_t>& was_learned) {
    stream->encode({x, y, {}}, batch);
    CHECK(batch.was_learned.empty());
    batch.was_learned = was_learned;
    stream->score(batch);
    return batch.scores;
  }

  std::unique_ptr<phsic::Stream> stream;
  Batch batch;
  std::vector<std::string_view> x = {"x1", "x2", "x3"};
  std::vector<std::string_view> y = {"y1", "y2", "y4"};
};

TEST_CASE("The own share is taken out of the scores of what was learned, and of nothing else") {
  Relearned learned;
  const auto plain = learned.scores({});
  const auto model = learned.stream->published()->model;
  const std::vector<double> shares = {0, 1 / 200.0, 3 / 200.0};
  std::vector<double> expected(3);
  model->score(learned.batch.x.view(), learned.batch.y.view(), expected.data(), nullptr,
               learned.batch.scratch, shares.data());
  CHECK(learned.scores({0, 1, 3}) == expected);
  CHECK(expected[0] == plain[0]);
  CHECK(expected[1] != plain[1]);
  // The next batch does not inherit what was learned of this one.
  CHECK(learned.scores({}) == plain);
}

TEST_CASE("A stream that forgets takes nothing out: nobody knows the shares") {
  Relearned learned({Forgetting::Mode::kHalfLifePairs, 100});
  CHECK(learned.scores({1, 1, 1}) == learned.scores({}));
}

TEST_CASE("Enough pairs to measure are held back when the first model is built") {
  StreamConfig config;
  config.x = {{ItemKind::kDense, 1}, Kernel::linear(), 0};
  config.y = config.x;
  Learner<float> learner(config);
  const std::vector<float> values(kFewestMeasured, 1);
  const DenseRows<float> rows{values.data(), values.size(), 1};
  learner.learn(rows, rows, nullptr, nullptr, nullptr);
  CHECK(learner.held_back() == kFewestHeldBack);
}

}  // namespace
}  // namespace phsic::test
