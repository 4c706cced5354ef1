#include "core/pivot_policy.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "tests/core/streams.h"

namespace phsic::test {
namespace {

// A block of which the pivots leave this share unexplained.
FeatureBlock<float> block_with(double unexplained, std::size_t pairs) {
  FeatureBlock<float> block;
  block.self.assign(pairs, 2);
  block.residual.assign(pairs, 2 * unexplained);
  return block;
}

PivotFit fit_of(double when_chosen, double now) {
  PivotFit fit;
  fit.restart(when_chosen);
  const std::vector<double> weights(10, 1);
  fit.remember(block_with(now, 10), weights.data());
  return fit;
}

// A stream with pivots on the side of x alone.
struct OneSided {
  explicit OneSided(const Kernel& kernel)
      : stream(make_stream<float>({.pairs = 300}, 3)), weights(300, 1) {
    config.x = {stream.x.shape(), kernel, 16};
    config.y = {stream.y.shape(), Kernel::cosine(), 0};
  }

  [[nodiscard]] PivotSide<float> x(const FeatureMap<float>* map, const PivotFit& fit) const {
    return {config.x, map, fit, stream.x};
  }
  [[nodiscard]] PivotSide<float> y() const { return {config.y, nullptr, unused, stream.y}; }
  [[nodiscard]] PivotChange<float> first_change() const {
    return PivotPolicy<float>(config).propose(x(nullptr, unused), y(), weights, 0).value();
  }

  Stream<float> stream;
  std::vector<double> weights;
  StreamConfig config;
  PivotFit unused;
};

}  // namespace

TEST_CASE("What pivots leave unexplained is a mean that forgets") {
  PivotFit fit;
  CHECK(fit.unexplained() == 0);
  const std::vector<double> weights(10, 1);
  fit.remember(block_with(0.5, 10), weights.data());
  CHECK(fit.unexplained() == Approx(0.5));
  // Eight blocks on, the first counts half.
  for (int i = 0; i < 8; ++i) fit.remember(block_with(0, 10), weights.data());
  const double keep = std::exp2(-1.0 / 8);
  CHECK(fit.unexplained() == Approx(0.25 * (1 - keep) / (0.5 * (1 - keep) + 0.5)));
  fit.remember(FeatureBlock<float>(), nullptr);
  CHECK(fit.unexplained() > 0);
  fit.restart(0.3);
  CHECK(fit.unexplained() == 0);
  CHECK(fit.when_chosen() == 0.3);
}

TEST_CASE("A pair counts by its weight for what is left unexplained") {
  PivotFit fit;
  FeatureBlock<float> block;
  block.self = {1, 1};
  block.residual = {1, 0};
  const std::vector<double> weights = {3, 1};
  fit.remember(block, weights.data());
  CHECK(fit.unexplained() == Approx(0.75));
}

TEST_CASE("The fit of pivots can be saved") {
  const auto fit = fit_of(0.25, 0.125);
  Writer writer;
  fit.save(writer);
  Reader reader(writer.bytes());
  const auto again = PivotFit::load(reader);
  CHECK(reader.rest().empty());
  CHECK(again.unexplained() == fit.unexplained());
  CHECK(again.when_chosen() == fit.when_chosen());
}

TEST_CASE("First pivots are wanted as soon as there are items, where the kernel needs some") {
  const OneSided scene(Kernel::gaussian(1));
  const PivotPolicy<float> policy(scene.config);
  CHECK(policy.uses_pivots());
  CHECK(policy.wants_pivots(scene.x(nullptr, scene.unused), scene.weights));
  CHECK_FALSE(policy.wants_pivots(scene.y(), scene.weights));
  const ItemBlock<float> none(scene.stream.x.shape());
  CHECK_FALSE(policy.wants_pivots({scene.config.x, nullptr, scene.unused, none}, {}));
  StreamConfig explicit_ones = scene.config;
  explicit_ones.x = explicit_ones.y;
  CHECK_FALSE(PivotPolicy<float>(explicit_ones).uses_pivots());
}

TEST_CASE("New pivots are wanted where the present ones have become worse by half") {
  const OneSided scene(Kernel::gaussian(1));
  const PivotPolicy<float> policy(scene.config);
  const auto map = scene.first_change().x;
  const auto wants = [&](double when_chosen, double now) {
    return policy.wants_pivots(scene.x(map.get(), fit_of(when_chosen, now)), scene.weights);
  };
  CHECK_FALSE(wants(0.2, 0.29));
  CHECK(wants(0.2, 0.31));
  // Below the stream's threshold of 0.1 nothing is to be gained.
  CHECK_FALSE(wants(0.01, 0.09));
  // Where little was explained, that must have shrunk.
  CHECK_FALSE(wants(0.7, 0.79));
  CHECK(wants(0.7, 0.81));
}

TEST_CASE("New pivots are wanted where the bandwidth is off by two, and keep it otherwise") {
  const OneSided scene(Kernel::parse("gaussian:sigma=median"));
  const PivotPolicy<float> policy(scene.config);
  const auto map = scene.first_change().x;
  const double sigma = map->kernel().sigma();
  CHECK_FALSE(policy.wants_pivots(scene.x(map.get(), scene.unused), scene.weights));
  const auto scaled_by = [&](float factor) {
    auto items = scene.stream.x;
    for (std::size_t i = 0; i < items.size(); ++i) items.scale(i, factor);
    return items;
  };
  const auto wider = scaled_by(3);
  const PivotSide<float> drifted{scene.config.x, map.get(), scene.unused, wider};
  REQUIRE(policy.wants_pivots(drifted, scene.weights));
  const auto change = policy.propose(drifted, scene.y(), scene.weights, 1);
  CHECK(change->x->kernel().sigma() == Approx(3 * sigma).epsilon(0.1));
  // Chosen anew for another reason, they stay under the same kernel.
  const auto similar = scaled_by(1.2F);
  const auto fit = fit_of(0.1, 0.9);
  const auto kept =
      policy.propose({scene.config.x, map.get(), fit, similar}, scene.y(), scene.weights, 1);
  CHECK(kept->x->kernel() == map->kernel());
}

TEST_CASE("A proposal has pivots for the sides that want some, the same each time") {
  const OneSided scene(Kernel::gaussian(1));
  const PivotPolicy<float> policy(scene.config);
  const auto change = scene.first_change();
  REQUIRE(change.x != nullptr);
  CHECK(change.y == nullptr);
  CHECK(change.x->pivots()->items.size() == 16);
  CHECK(change.unexplained_x > 0);
  CHECK(serialise(scene.first_change()) == serialise(change));
  // Each epoch draws its own.
  const auto later =
      policy.propose(scene.x(nullptr, scene.unused), scene.y(), scene.weights, 1).value();
  CHECK(serialise(later) != serialise(change));
  PivotFit good;
  good.restart(change.unexplained_x);
  CHECK_FALSE(policy.propose(scene.x(change.x.get(), good), scene.y(), scene.weights, 1));
}

}  // namespace phsic::test
