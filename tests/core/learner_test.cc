#include "core/learner.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "core/refresh.h"
#include "tests/core/law.h"
#include "tests/core/reduced.h"
#include "tests/core/scene.h"

namespace phsic::test {
namespace {

using Cosine = Subject<float, ItemKind::kDense, "cosine", "cosine">;
using Gaussian = Subject<float, ItemKind::kDense, "gaussian", "gaussian">;
using Sparse = Subject<float, ItemKind::kSparse, "cosine", "cosine">;
using Texts = Subject<float, ItemKind::kText, "spectrum:n=2", "spectrum:n=2">;

TEMPLATE_TEST_CASE("How pairs are batched does not change a bit of the state", "[law]", Cosine,
                   Gaussian, Sparse, Texts) {
  using T = typename TestType::Scalar;
  require_law("batching does not matter", 0, [](std::uint64_t seed, Way way) {
    Scene<TestType> scene(seed, 200, 900);
    scene.config.reservoir = 100;  // the first pivots are chosen on the way
    if (seed % 3 == 0) scene.config.forgetting = {Forgetting::Mode::kHalfLifeSeconds, 90, 1};
    if (seed % 3 == 1) scene.config.forgetting = {Forgetting::Mode::kWindowSeconds, 300, 3};
    std::vector<double> times(scene.stream.size());
    for (std::size_t i = 0; i < times.size(); ++i) times[i] = 1000 + double(i) * 0.7;
    Learner<T> one_by_one(scene.config);
    Learner<T> at_random(scene.config);
    for (std::size_t i = 0; i < scene.stream.size(); ++i) {
      one_by_one.learn(slice(scene.stream.x.view(), i, 1), slice(scene.stream.y.view(), i, 1),
                       nullptr, &times[i], nullptr);
    }
    // Wrong: one arrival time differs.
    if (way == Way::kWrong) times.back() += 1;
    scene.feed(at_random, scene.stream, {}, times);
    return serialise(one_by_one) == serialise(at_random) ? 0.0 : 1.0;
  });
}

TEST_CASE("A replay with the same refreshes gives the same bits") {
  const auto run = [] {
    Scene<Gaussian> scene(11, 3000, 3000);
    Learner<float> learner(scene.config);
    EstimatorSpec spec;
    spec.kind = std::nullopt;
    std::string last;
    for (std::size_t first = 0; first < 3000; first += 500) {
      learner.learn(slice(scene.stream.x.view(), first, 500),
                    slice(scene.stream.y.view(), first, 500), nullptr, nullptr, nullptr);
      const auto refreshed = refresh(learner, spec, Learner<float>::Extent::kWithoutHeldBack);
      if (refreshed.pivots) learner.adopt(*refreshed.pivots);
      last = serialise(*refreshed.model);
    }
    return serialise(learner) + last;
  };
  CHECK(run() == run());
}

TEST_CASE("A pivot change may be adopted later than it was chosen") {
  Scene<Gaussian> scene(12, 2000, 2000);
  Learner<float> learner(scene.config);
  scene.feed(learner, part(scene.stream, 0, 1000));
  const auto refreshed = refresh(learner, {}, Learner<float>::Extent::kAll);
  REQUIRE(refreshed.pivots);
  scene.feed(learner, part(scene.stream, 1000, 2000));
  learner.adopt(*refreshed.pivots);
  CHECK(learner.epoch() == 1);
  CHECK(learner.moments(Learner<float>::Extent::kAll).pairs() == 2000);
}

TEST_CASE("The newest pairs are held back, as the design has it") {
  StreamConfig config;
  config.x = {{ItemKind::kDense, 2}, Kernel::linear(), 0};
  config.y = config.x;
  const auto held = [&](std::size_t pairs, Forgetting forgetting, double seconds_apart) {
    config.forgetting = forgetting;
    Learner<double> learner(config);
    const auto stream = make_stream<double>({.dim_x = 2, .dim_y = 2, .pairs = pairs}, 1);
    std::vector<double> times(pairs);
    for (std::size_t i = 0; i < pairs; ++i) times[i] = double(i) * seconds_apart;
    learner.learn(stream.x.view(), stream.y.view(), nullptr, times.data(), nullptr);
    const auto without = learner.moments(Learner<double>::Extent::kWithoutHeldBack);
    CHECK(without.pairs() + learner.held_back() == pairs);
    CHECK(learner.moments(Learner<double>::Extent::kAll).pairs() == pairs);
    return learner.held_back();
  };
  using Mode = Forgetting::Mode;
  CHECK(held(100, {}, 1) == 20);
  CHECK(held(10000, {}, 1) == 1024);
  CHECK(held(10000, {Mode::kHalfLifePairs, 400, 1}, 1) == 100);
  CHECK(held(5000, {Mode::kHalfLifeSeconds, 400, 1}, 0.5) == 201);
}

TEST_CASE("A window of seconds forgets by the clock") {
  Scene<Cosine> scene(13, 2048, 2048);
  scene.config.held_back = 0;
  scene.config.forgetting = {Forgetting::Mode::kWindowSeconds, 400, 4};
  auto learner = scene.learner();
  // Half a second apart: a block of 256 lasts 128 s, a bucket is 100 s.
  std::vector<double> times(2048);
  for (std::size_t i = 0; i < times.size(); ++i) times[i] = 5e8 + 0.5 * double(i);
  scene.feed(learner, scene.stream, {}, times);
  // A block belongs to the bucket of its last pair; the window ends with the newest pair's bucket.
  const auto bucket = [&](std::size_t block) { return std::floor(times[block * 256 + 255] / 100); };
  std::size_t first = 0;
  while (bucket(first) <= std::floor(times.back() / 100) - 4) ++first;
  CHECK(first > 2);
  const std::size_t kept = 2048 - first * 256;
  const Covariance expected =
      scene.batch(learner, part(scene.stream, first * 256, 2048), std::vector<double>(kept, 1));
  const Covariance found = scene.learned(learner);
  CHECK(found.weight == Approx(double(kept)));
  CHECK((found.xy - expected.xy).norm() < 1e-5 * expected.xy.norm());
}

TEST_CASE("A window forgets in silence too") {
  Scene<Cosine> scene(18, 1500, 1500);
  scene.config.forgetting = {Forgetting::Mode::kWindowSeconds, 100, 4};
  auto learner = scene.learner();
  std::vector<double> times(1500, 1000);
  std::fill(times.end() - 10, times.end(), 1e6);
  scene.feed(learner, scene.stream, {}, times);
  CHECK(scene.learned(learner).weight == Approx(10));
}

TEST_CASE("A learner that has learned nothing takes over what it is merged with") {
  for (const auto mode : {Forgetting::Mode::kNever, Forgetting::Mode::kHalfLifeSeconds}) {
    Scene<Gaussian> scene(19, 500, 500);
    scene.config.forgetting = {mode, 1e9, 1};
    Learner<float> empty(scene.config);
    StreamConfig other = scene.config;
    other.seed += 1;
    Learner<float> theirs(other);
    scene.feed(theirs, scene.stream);
    empty.merge(theirs);
    CHECK(empty.accepted() == 500);
    CHECK(empty.moments(Learner<float>::Extent::kAll).pairs() == 500);
    CHECK(serialise(parse<Learner<float>>(serialise(empty))) == serialise(empty));
    CHECK(refresh(empty, {}, Learner<float>::Extent::kAll).model->facts().pairs == 500);
  }
}

TEST_CASE("What a learner without pairs takes over weighs the same in sample and moments") {
  for (const auto mode : {Forgetting::Mode::kHalfLifePairs, Forgetting::Mode::kHalfLifeSeconds}) {
    Scene<Cosine> scene(21, 1000, 1000);
    scene.config.forgetting = {mode, 100, 1};
    Learner<float> empty(scene.config);
    Learner<float> theirs(scene.config);
    scene.feed(theirs, scene.stream);
    empty.merge(theirs);
    double weight = 0;
    for (const double each : empty.sample().weights) weight += each;
    CHECK(weight == Approx(empty.moments(Learner<float>::Extent::kAll).weight()));
  }
}

TEST_CASE("A merge under the same pivots carries nothing, even after they were saved") {
  Scene<Gaussian> scene(20, 800, 800);
  auto left = scene.learner();
  auto right = scene.learner();
  scene.feed(left, part(scene.stream, 0, 400));
  scene.feed(right, part(scene.stream, 400, 800));
  auto restored = parse<Learner<float>>(serialise(right));
  auto again = left;
  left.merge(right);
  again.merge(restored);
  CHECK(serialise(left) == serialise(again));
}

TEST_CASE("A bandwidth fitted to the first pair is fitted again") {
  for (const char* sigma : {"median", "scott"}) {
    CAPTURE(sigma);
    // Small numbers: a fallback of 1 would be far too wide.
    auto stream = make_stream<double>({.pairs = 3000}, 6);
    stream = {scaled(stream.x, 0.01), scaled(stream.y, 0.01)};
    StreamConfig config;
    config.x = {stream.x.shape(), Kernel::parse(std::string("gaussian:sigma=") + sigma), 20};
    config.y = {stream.y.shape(), config.x.kernel, 20};
    Learner<double> learner(config);
    for (const std::size_t first : {0, 1, 500, 1000, 2000}) {
      const std::size_t end = first == 0 ? 1 : first == 1 ? 500 : first == 2000 ? 3000 : 2 * first;
      learner.learn(slice(stream.x.view(), first, end - first),
                    slice(stream.y.view(), first, end - first), nullptr, nullptr, nullptr);
      const auto refreshed = refresh(learner, {}, Learner<double>::Extent::kAll);
      if (refreshed.pivots) learner.adopt(*refreshed.pivots);
    }
    const auto model = refresh(learner, {}, Learner<double>::Extent::kWithoutHeldBack).model;
    CHECK(model->facts().accuracy->auc > 0.6);
  }
}

TEST_CASE("Drift is seen where the pivots never explained much") {
  StreamShape shape;
  shape.dim_x = shape.dim_y = 20;
  shape.pairs = 4000;
  const auto before = make_stream<float>(shape, 7);
  shape.turn = 5;
  const auto after = make_stream<float>(shape, 8);
  StreamConfig config;
  config.x = {before.x.shape(), Kernel::gaussian(1.2), 16};
  config.y = {before.y.shape(), Kernel::gaussian(1.2), 16};
  Learner<float> learner(config);
  learner.learn(before.x.view(), before.y.view(), nullptr, nullptr, nullptr);
  learner.adopt(*learner.propose_pivots());
  learner.learn(before.x.view(), before.y.view(), nullptr, nullptr, nullptr);
  CHECK(learner.unexplained_x() > 0.7);
  CHECK_FALSE(learner.wants_pivots());
  learner.learn(after.x.view(), after.y.view(), nullptr, nullptr, nullptr);
  CHECK(learner.wants_pivots());
}

TEST_CASE("A pivot change of another kernel is refused") {
  Scene<Gaussian> scene(21, 300, 300);
  StreamConfig other = scene.config;
  other.x.kernel = other.y.kernel = Kernel::laplacian(1);
  Learner<float> elsewhere(other);
  scene.feed(elsewhere, scene.stream);
  Learner<float> learner(scene.config);
  CHECK_THROWS_WITH(learner.adopt(*elsewhere.propose_pivots()),
                    Catch::Contains("found laplacian:gamma=1"));
}

TEST_CASE("Times that run backwards count as the latest") {
  StreamConfig config;
  config.x = {{ItemKind::kDense, 2}, Kernel::linear(), 0};
  config.y = config.x;
  config.forgetting = {Forgetting::Mode::kHalfLifeSeconds, 10, 1};
  const auto stream = make_stream<double>({.dim_x = 2, .dim_y = 2, .pairs = 600}, 2);
  std::vector<double> jumping(600, 100);
  std::vector<double> steady(600, 100);
  for (std::size_t i = 300; i < 600; ++i) jumping[i] = 50;
  Learner<double> a(config);
  Learner<double> b(config);
  a.learn(stream.x.view(), stream.y.view(), nullptr, jumping.data(), nullptr);
  b.learn(stream.x.view(), stream.y.view(), nullptr, steady.data(), nullptr);
  CHECK(serialise(a) == serialise(b));
}

TEST_CASE("A pause of a thousand half-lives forgets all and goes on") {
  StreamConfig config;
  config.x = {{ItemKind::kDense, 2}, Kernel::linear(), 0};
  config.y = config.x;
  config.held_back = 0;
  config.forgetting = {Forgetting::Mode::kHalfLifeSeconds, 1, 1};
  const auto stream = make_stream<double>({.dim_x = 2, .dim_y = 2, .pairs = 1024}, 3);
  std::vector<double> times(1024, 0);
  for (std::size_t i = 512; i < 1024; ++i) times[i] = 1e6;
  Learner<double> learner(config);
  learner.learn(stream.x.view(), stream.y.view(), nullptr, times.data(), nullptr);
  const Covariance c = learner.moments(Learner<double>::Extent::kAll).covariance();
  CHECK(c.weight == Approx(512));
  CHECK(c.xy.allFinite());
}

TEMPLATE_TEST_CASE("Memory does not grow with the stream", "", Cosine, Gaussian, Sparse) {
  Scene<TestType> scene(14, 2560, 2560);  // whole blocks
  scene.config.reservoir = 200;
  scene.config.held_back = 100;
  Learner<float> learner(scene.config);
  scene.feed(learner, scene.stream);
  const std::size_t early = serialise(learner).size();
  for (int i = 0; i < 10; ++i) scene.feed(learner, scene.stream);
  const std::size_t late = serialise(learner).size();
  CHECK(double(late) < 1.02 * double(early));
}

TEST_CASE("A stable stream keeps its pivots") {
  Scene<Gaussian> scene(15, 3000, 3000);
  scene.config.x.pivots = scene.config.y.pivots = 30;
  Learner<float> learner(scene.config);
  for (std::size_t first = 0; first < 3000; first += 300) {
    scene.feed(learner, part(scene.stream, first, first + 300));
    const auto refreshed = refresh(learner, {}, Learner<float>::Extent::kAll);
    if (refreshed.pivots) learner.adopt(*refreshed.pivots);
  }
  CHECK(learner.epoch() <= 2);
  CHECK(learner.unexplained_x() < 0.2);
}

TEST_CASE("Merging carries other pivots over to ours") {
  Scene<Gaussian> scene(16, 1500, 1500);
  scene.config.x.pivots = scene.config.y.pivots = 25;
  Learner<float> left(scene.config);
  StreamConfig other = scene.config;
  other.seed = 99;
  Learner<float> right(other);
  scene.feed(left, part(scene.stream, 0, 700));
  scene.feed(right, part(scene.stream, 700, 1500));
  left.adopt(*left.propose_pivots());
  // Both fit their own bandwidth and choose their own pivots.
  right.adopt(*right.propose_pivots());
  left.merge(right);
  CHECK(left.accepted() == 1500);
  Learner<float> whole(scene.config);
  whole.adopt({left.map_x(), left.map_y(), 0, 0});
  scene.feed(whole, scene.stream);
  CHECK(scene.distance(whole, scene.learned(left), scene.learned(whole)) < 1e-2);
}

// Dense pairs whose x begins with `side`.
Stream<double> marked_stream(double side, std::size_t pairs) {
  Stream<double> stream{ItemBlock<double>({ItemKind::kDense, 2}),
                        ItemBlock<double>({ItemKind::kDense, 1})};
  for (std::size_t i = 0; i < pairs; ++i) {
    stream.x.append_all(block_of_row<double>({side, std::sin(double(i) * (1 + side))}));
    stream.y.append_all(block_of_row<double>({double(i)}));
  }
  return stream;
}

StreamConfig sampling_config(const Forgetting& forgetting, std::uint64_t seed) {
  StreamConfig config;
  config.x = {{ItemKind::kDense, 2}, Kernel::linear(), 0};
  config.y = {{ItemKind::kDense, 1}, Kernel::linear(), 0};
  config.forgetting = forgetting;
  config.reservoir = 16;
  config.held_back = 16;
  config.seed = seed;
  return config;
}

void learn_at(Learner<double>& learner, const Stream<double>& stream, double seconds_apart) {
  std::vector<double> times(stream.size());
  for (std::size_t i = 0; i < times.size(); ++i) times[i] = 1e6 + seconds_apart * double(i);
  learner.learn(stream.x.view(), stream.y.view(), nullptr, times.data(), nullptr);
}

// Compares the sample's estimates with the moments: the sum of the weights, and the weighted sums
// of both coordinates of x. Returns the largest difference in standard errors over many seeds.
// `make` gives a learner.
template <class Make>
double largest_bias(const Make& make) {
  constexpr int kRuns = reduced(1000);
  Eigen::Vector3d mean = Eigen::Vector3d::Zero();
  Eigen::Vector3d squares = Eigen::Vector3d::Zero();
  Eigen::Vector3d truth = Eigen::Vector3d::Zero();
  for (int run = 0; run < kRuns; ++run) {
    const Learner<double> learner = make(std::uint64_t(1000 + run));
    const auto sums = learner.moments(Learner<double>::Extent::kAll);
    truth << 1, sums.covariance().mean_x;
    truth *= sums.weight();
    const auto sample = learner.sample_with_recent(Learner<double>::Extent::kAll);
    Eigen::Vector3d estimate = Eigen::Vector3d::Zero();
    const Items<double> x = sample.x.view();
    for (std::size_t i = 0; i < sample.weights.size(); ++i) {
      const double* row = std::get<DenseRows<double>>(x).row(i);
      estimate += sample.weights[i] * Eigen::Vector3d(1, row[0], row[1]);
    }
    mean += estimate / kRuns;
    squares += estimate.cwiseAbs2() / kRuns;
  }
  const Eigen::Vector3d error = ((squares - mean.cwiseAbs2()) / kRuns).cwiseSqrt();
  return (mean - truth).cwiseQuotient(error).cwiseAbs().maxCoeff();
}

TEST_CASE("Samples of the same seed merge without bias") {
  using Mode = Forgetting::Mode;
  const auto first = marked_stream(0, 1100);
  const auto second = marked_stream(1, 700);
  const auto third = marked_stream(2, 600);
  for (const Forgetting& forgetting :
       {Forgetting{}, Forgetting{Mode::kHalfLifePairs, 300, 1},
        Forgetting{Mode::kHalfLifeSeconds, 400, 1}, Forgetting{Mode::kWindowPairs, 768, 3},
        Forgetting{Mode::kWindowSeconds, 900, 2}}) {
    CAPTURE(int(forgetting.mode));
    const auto of = [&](const Stream<double>& stream, double seconds_apart, std::uint64_t seed) {
      Learner<double> learner(sampling_config(forgetting, seed));
      learn_at(learner, stream, seconds_apart);
      return learner;
    };
    // Three streams of different lengths, whose pairs of the same number have different weights.
    CHECK(largest_bias([&](std::uint64_t seed) {
            auto learner = of(first, 1, seed);
            learner.merge(of(second, 1.5, seed));
            learner.merge(of(third, 1.8, seed));
            return learner;
          }) < 4);
    // A stream merged with itself, and then with the same again.
    CHECK(largest_bias([&](std::uint64_t seed) {
            auto learner = of(first, 1, seed);
            learner.merge(learner);
            learner.merge(of(first, 1, seed));
            return learner;
          }) < 4);
    // An empty learner merged with a stream; then pairs with the same numbers are learned.
    CHECK(largest_bias([&](std::uint64_t seed) {
            Learner<double> learner(sampling_config(forgetting, seed));
            learner.merge(of(first, 1, seed));
            learn_at(learner, second, 2);
            return learner;
          }) < 4);
  }
}

TEST_CASE("A merge is the same each time, and one with nothing changes nothing") {
  const auto config = sampling_config({Forgetting::Mode::kWindowSeconds, 900, 2}, 5);
  Learner<double> left(config);
  Learner<double> right(config);
  learn_at(left, marked_stream(0, 1100), 1);
  learn_at(right, marked_stream(1, 700), 1.5);
  auto again = parse<Learner<double>>(serialise(left));
  const auto before = serialise(left);
  left.merge(Learner<double>(config));
  CHECK(serialise(left) == before);
  left.merge(right);
  again.merge(parse<Learner<double>>(serialise(right)));
  CHECK(serialise(left) == serialise(again));
  CHECK(serialise(left) != before);
}

TEST_CASE("Samples of different seeds keep their draws when they are merged") {
  const auto left_stream = marked_stream(0, 1024);
  const auto right_stream = marked_stream(1, 512);
  auto config = sampling_config({}, 5);
  config.held_back = 0;
  Learner<double> left(config);
  config.seed = 6;
  Learner<double> right(config);
  learn_at(left, left_stream, 1);
  learn_at(right, right_stream, 1);
  left.merge(right);
  Reservoir<double> expected(16, left_stream.x.shape(), left_stream.y.shape());
  for (const auto* stream : {&left_stream, &right_stream}) {
    Reservoir<double> own(16, stream->x.shape(), stream->y.shape());
    for (std::size_t i = 0; i < stream->size(); ++i) {
      own.offer(stream->x.view(), stream->y.view(), i, i, 0,
                Random(stream == &left_stream ? 5 : 6, i).uniform());
    }
    expected.merge(own, 0);
  }
  CHECK(left.sample().sequences == expected.sequences());
  CHECK(left.sample().weights == expected.sample_weights(0));
}

}  // namespace
}  // namespace phsic::test
