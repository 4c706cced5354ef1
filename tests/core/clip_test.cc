// Vectors far longer than all others must not spoil the scores of a stream, and no other vector may
// be changed.
#include "core/clip.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "core/refresh.h"
#include "tests/core/streams.h"

namespace phsic::test {
namespace {

using Extent = Learner<float>::Extent;

struct Outlier {
  std::size_t place = 0;
  float value = 0;
  std::size_t count = 1;
};

StreamConfig config_for(const std::string& kernel) {
  StreamConfig config;
  const auto parsed = Kernel::parse(kernel);
  const std::uint32_t pivots = parsed.is_explicit() ? 0 : 20;
  config.x = {{ItemKind::kDense, 6}, parsed, pivots};
  config.y = {{ItemKind::kDense, 5}, parsed, pivots};
  config.reservoir = 256;
  config.held_back = 256;
  return config;
}

// A stream in which some pairs have vectors of one value throughout.
Stream<float> stream_with(const Outlier& outlier, std::size_t pairs, std::uint64_t seed = 3) {
  const auto plain = make_stream<float>({.dim_x = 6, .dim_y = 5, .pairs = pairs}, seed);
  const auto long_x = block_of_row(std::vector<float>(6, outlier.value));
  const auto long_y = block_of_row(std::vector<float>(5, -outlier.value));
  Stream<float> result{ItemBlock<float>(plain.x.shape()), ItemBlock<float>(plain.y.shape())};
  for (std::size_t i = 0; i < pairs; ++i) {
    const bool is_out = i >= outlier.place && i < outlier.place + outlier.count;
    const auto& x = is_out ? long_x : plain.x;
    const auto& y = is_out ? long_y : plain.y;
    REQUIRE(result.x.append(x.view(), is_out ? 0 : i) == Fault::kNone);
    REQUIRE(result.y.append(y.view(), is_out ? 0 : i) == Fault::kNone);
  }
  return result;
}

Learner<float> learned(const StreamConfig& config, const Stream<float>& stream) {
  Learner<float> learner(config);
  learner.learn(stream.x.view(), stream.y.view(), nullptr, nullptr, nullptr);
  return learner;
}

double self_auc(const Learner<float>& learner, EstimatorKind kind = EstimatorKind::kGaussianPmi) {
  EstimatorSpec spec;
  spec.kind = kind;
  spec.ridge = 1;
  return refresh(learner, spec, Extent::kWithoutHeldBack).model->facts().accuracy->auc;
}

TEST_CASE("One vector far longer than all others does not take the scores away") {
  const std::pair<const char*, float> kCases[] = {{"linear", 1e9F},
                                                  {"linear", 1e4F},
                                                  {"polynomial", 1e4F},
                                                  {"polynomial:degree=3,gamma=0.1", 1e3F},
                                                  {"sum(linear,gaussian:sigma=3)", 1e8F},
                                                  {"product(linear,polynomial)", 1e2F}};
  for (const auto& [kernel, value] : kCases) {
    CAPTURE(kernel, value);
    auto config = config_for(kernel);
    const auto plain = learned(config, stream_with({}, 1500));
    CHECK(plain.clipped() == 0);
    const double usual_phsic = self_auc(plain, EstimatorKind::kPhsic);
    const double usual_pmi = self_auc(plain, EstimatorKind::kGaussianPmi);
    // Among the first, before there was a block, later, and among those that are held back.
    for (const std::size_t place : {0, 20, 200, 700, 1480}) {
      CAPTURE(place);
      config.forgetting =
          place == 200 ? Forgetting{Forgetting::Mode::kHalfLifePairs, 1000, 1} : Forgetting{};
      const auto learner = learned(config, stream_with({place, value}, 1500));
      CHECK(learner.clipped() == 2);
      CHECK(self_auc(learner, EstimatorKind::kPhsic) > usual_phsic - 0.02);
      CHECK(self_auc(learner, EstimatorKind::kGaussianPmi) > usual_pmi - 0.02);
    }
  }
}

// How many vectors are clipped when their coordinates are drawn one by one.
template <class Draw>
std::size_t clipped_of(const char* notation, const Draw& draw) {
  const auto kernel = Kernel::parse(notation);
  Random random(1);
  UsualLength usual;
  std::vector<double> first;
  std::size_t clipped = 0;
  for (int i = 0; i < 50'000; ++i) {
    double squared = 0;
    for (int j = 0; j < 4; ++j) squared += std::pow(draw(random), 2);
    if (usual.is_known()) {
      clipped += usual.factor(kernel, squared) < 1 ? 1 : 0;
      usual.follow(squared);
    } else if (first.push_back(squared); first.size() == UsualLength::kCompared) {
      usual.begin(first);
    }
  }
  return clipped;
}

TEST_CASE("Vectors of ordinary streams are learned as they are, heavy tails and all") {
  const auto normal = [](Random& random) { return random.normal(); };
  const auto sparse = [](Random& random) { return random.uniform() < 0.95 ? 0 : random.normal(); };
  const auto exponential = [](Random& random) { return random.exponential(); };
  const auto far_off = [](Random& random) { return 1e6 + random.normal(); };
  for (const auto* kernel : {"linear", "polynomial", "polynomial:degree=4", "sum(linear,cosine)"}) {
    CAPTURE(kernel);
    CHECK(clipped_of(kernel, normal) == 0);
    CHECK(clipped_of(kernel, sparse) == 0);
    CHECK(clipped_of(kernel, exponential) == 0);
    CHECK(clipped_of(kernel, far_off) == 0);
  }
  CHECK(clipped_of("linear", [](Random& random) { return std::exp(1.5 * random.normal()); }) == 0);
  // Student's t with 3 degrees of freedom.
  CHECK(clipped_of("linear", [](Random& random) {
          double squares = 0;
          for (int i = 0; i < 3; ++i) squares += std::pow(random.normal(), 2);
          return random.normal() / std::sqrt(squares / 3);
        }) == 0);
  // This one has no variance to be learned.
  CHECK(clipped_of("linear", [](Random& random) { return 1 / random.uniform(); }) > 0);
}

TEST_CASE("A stream whose vectors become longer for good is followed") {
  const auto config = config_for("linear");
  Learner<float> learner(config);
  const auto feed = [&](float value, std::uint64_t seed) {
    auto stream = make_stream<float>({.dim_x = 6, .dim_y = 5, .pairs = 2000}, seed);
    for (std::size_t i = 0; i < stream.size(); ++i) {
      stream.x.scale(i, value);
      stream.y.scale(i, value);
    }
    learner.learn(stream.x.view(), stream.y.view(), nullptr, nullptr, nullptr);
  };
  feed(1, 1);
  CHECK(learner.clipped() == 0);
  // Longer by less than the limit: nothing is clipped, even at first.
  feed(20, 2);
  CHECK(learner.clipped() == 0);
  for (std::uint64_t seed = 3; seed < 6; ++seed) feed(1e7F, seed);
  const auto clipped = learner.clipped();
  CHECK(clipped > 0);
  feed(1e7F, 6);
  CHECK(learner.clipped() == clipped);
  CHECK(self_auc(learner) > 0.8);
  // And back again.
  for (std::uint64_t seed = 7; seed < 9; ++seed) feed(1, seed);
  CHECK(learner.clipped() == clipped);
}

TEST_CASE("Many long vectors in a row are clipped like one") {
  const auto config = config_for("linear");
  const auto plain = learned(config, stream_with({}, 2500));
  const auto learner = learned(config, stream_with({600, 1e9F, 200}, 2500));
  CHECK(learner.clipped() == 400);
  CHECK(self_auc(learner) > self_auc(plain) - 0.1);
  CHECK(self_auc(learner) > 0.75);
}

TEST_CASE("What is clipped does not depend on batches, nor on being saved in between") {
  for (const std::size_t place : {10, 63, 64, 500}) {
    CAPTURE(place);
    const auto stream = stream_with({place, 1e8F, 3}, 1000);
    const auto config = config_for("linear");
    const auto whole = learned(config, stream);
    CHECK(whole.clipped() == 6);
    Learner<float> pieces(config);
    Random random(place);
    for (std::size_t i = 0; i < stream.size();) {
      const auto count = std::min<std::size_t>(1 + random.below(40), stream.size() - i);
      pieces.learn(slice(stream.x.view(), i, count), slice(stream.y.view(), i, count), nullptr,
                   nullptr, nullptr);
      pieces = parse<Learner<float>>(serialise(pieces));
      i += count;
    }
    CHECK(serialise(pieces) == serialise(whole));
  }
}

TEST_CASE("Merged learners know what is usual in both") {
  const auto config = config_for("linear");
  // Too few to tell by themselves.
  const auto few = learned(config, stream_with({3, 1e9F}, 20, 5));
  CHECK(few.clipped() == 0);
  const auto many = learned(config, stream_with({100, 1e9F}, 2000));
  CHECK(many.clipped() == 2);
  auto joined = many;
  joined.merge(few);
  CHECK(joined.clipped() == 4);
  CHECK(self_auc(joined) > self_auc(many) - 0.02);
  joined = few;
  joined.merge(many);
  CHECK(joined.clipped() == 4);
}

}  // namespace
}  // namespace phsic::test
