// What is carried over to new pivots: within its bound, positive semidefinite, and good enough to
// recover from drift.
#include "core/carry.h"

#include <Eigen/Eigenvalues>
#include <catch2/catch.hpp>
#include <cmath>

#include "core/refresh.h"
#include "tests/core/law.h"
#include "tests/core/scene.h"

namespace phsic::test {
namespace {

using Map = FeatureMap<double>;
using Sample = Reservoir<double>::Sample;

using Gaussian = Subject<double, ItemKind::kDense, "gaussian:sigma=4", "gaussian:sigma=4">;
using Laplacian = Subject<double, ItemKind::kSparse, "laplacian:gamma=0.05", "laplacian:gamma=0.1">;
using Polynomial =
    Subject<double, ItemKind::kDense, "polynomial:gamma=0.05", "sum(linear,gaussian:sigma=5)">;
using Texts =
    Subject<double, ItemKind::kText, "spectrum:n=2", "product(spectrum:n=1,spectrum:n=2)">;

#define PHSIC_CARRIED Gaussian, Laplacian, Polynomial, Texts

// Features by pivots chosen among the first `among` items.
Map map_from(const Kernel& kernel, const ItemBlock<double>& items, std::size_t among,
             std::size_t count, std::uint64_t seed) {
  std::vector<std::size_t> first(among);
  for (std::size_t i = 0; i < among; ++i) first[i] = i;
  const ItemBlock<double> candidates = items.select(first);
  const auto choice = choose_pivots(kernel, candidates, std::vector<double>(among, 1), count,
                                    PivotRule::kRandom, 1e-10, seed);
  return Map(PivotSet<double>{kernel, candidates.select(choice.chosen), choice.factor});
}

// Old and new features of one stream, and its moments under the old ones.
template <class S>
struct Change {
  Change(std::uint64_t seed, std::size_t old_pivots, std::size_t new_pivots)
      : scene(seed, 60, 120),
        old_x(map_from(S::kernel_x(), scene.stream.x, 50, old_pivots, seed)),
        old_y(map_from(S::kernel_y(), scene.stream.y, 50, old_pivots, seed + 1)),
        new_x(map_from(S::kernel_x(), scene.stream.x, scene.stream.size(), new_pivots, seed + 2)),
        new_y(map_from(S::kernel_y(), scene.stream.y, scene.stream.size(), new_pivots, seed + 3)) {}

  [[nodiscard]] Moments moments(const Map& x, const Map& y) const {
    Moments result(x.dim(), y.dim(), Moments::Parts::kAll);
    FeatureBlock<double> block_x;
    FeatureBlock<double> block_y;
    Workspace workspace;
    x.map(scene.stream.x.view(), block_x, workspace);
    y.map(scene.stream.y.view(), block_y, workspace);
    result.add(block_x.features, block_y.features, nullptr, workspace);
    return result;
  }
  // Every `step`-th pair, weighing the same.
  [[nodiscard]] Sample sample(std::size_t step) const {
    Sample result;
    std::vector<std::size_t> positions;
    for (std::size_t i = 0; i < scene.stream.size(); i += step) positions.push_back(i);
    result.x = scene.stream.x.select(positions);
    result.y = scene.stream.y.select(positions);
    result.weights.assign(positions.size(), double(step));
    return result;
  }
  Scene<S> scene;
  Map old_x;
  Map old_y;
  Map new_x;
  Map new_y;
};

// M_xx about 0.
Eigen::MatrixXd second_moment(const Covariance& c) {
  return c.weight * (c.xx + c.mean_x * c.mean_x.transpose());
}

TEMPLATE_TEST_CASE("The carry-over error stays within its bound", "[law]", PHSIC_CARRIED) {
  require_law("carry error / bound", 1 + 1e-9, [](std::uint64_t seed, Way way) {
    const Change<TestType> change(seed, 40, 12);
    Eigen::MatrixXd carry = carry_matrix(change.old_x, change.new_x);
    if (carry.jacobiSvd().singularValues()(0) > 1 + 1e-6) return 1e9;
    // Wrong: old pivots taken for each other.
    if (way == Way::kWrong) carry = carry.rowwise().reverse().eval();
    Moments carried = change.moments(change.old_x, change.old_y);
    carried.transform(carry, carry_matrix(change.old_y, change.new_y));
    const Moments direct = change.moments(change.new_x, change.new_y);
    FeatureBlock<double> block;
    Workspace workspace;
    change.old_x.map(change.scene.stream.x.view(), block, workspace);
    double bound = 1e-9;
    for (std::size_t i = 0; i < block.self.size(); ++i) {
      bound += 2 * std::sqrt(block.self[i] * block.residual[i]);
    }
    const double error =
        (second_moment(carried.covariance()) - second_moment(direct.covariance())).norm();
    return error / bound;
  });
}

TEMPLATE_TEST_CASE("A full sample makes the carry-over exact", "[law]", PHSIC_CARRIED) {
  require_law("carry with all pairs = direct", 1e-7, [](std::uint64_t seed, Way way) {
    const Change<TestType> change(seed, 6, 9);
    Moments carried = change.moments(change.old_x, change.old_y);
    Workspace workspace;
    // Wrong: a sample of one pair.
    const Sample sample = change.sample(way == Way::kRight ? 1 : 1000);
    carry_over(carried, FeaturePair<double>{change.old_x, change.old_y},
               FeaturePair<double>{change.new_x, change.new_y}, sample, workspace);
    const Covariance found = carried.covariance();
    const Covariance expected = change.moments(change.new_x, change.new_y).covariance();
    return ((found.xx - expected.xx).norm() + (found.xy - expected.xy).norm() +
            (found.yy - expected.yy).norm() + (found.mean_x - expected.mean_x).norm()) /
           expected.xx.norm();
  });
}

double lowest_eigenvalue(const Covariance& c) {
  Eigen::MatrixXd joint(c.xx.rows() + c.yy.rows(), c.xx.rows() + c.yy.rows());
  joint << c.xx, c.xy, c.xy.transpose(), c.yy;
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(joint, Eigen::EigenvaluesOnly);
  return solver.eigenvalues()(0) / joint.trace();
}

TEMPLATE_TEST_CASE("The joint covariance stays positive semidefinite", "[law]", PHSIC_CARRIED) {
  require_law("- lowest eigenvalue", 1e-12, [](std::uint64_t seed, Way way) {
    const Change<TestType> change(seed, 5, 14);
    Moments carried = change.moments(change.old_x, change.old_y);
    Workspace workspace;
    carry_over(carried, FeaturePair<double>{change.old_x, change.old_y},
               FeaturePair<double>{change.new_x, change.new_y}, change.sample(12), workspace);
    Covariance covariance = carried.covariance();
    // Wrong: more correlation than there is variance.
    if (way == Way::kWrong)
      covariance.xy *=
          1.5 * std::sqrt(covariance.xx.trace() * covariance.yy.trace()) / covariance.xy.norm();
    return -lowest_eigenvalue(covariance);
  });
}

TEST_CASE("Without the projection a corrected covariance would not be positive", "[law]") {
  std::uint64_t negative = 0;
  for (std::uint64_t seed = 1; seed <= kShapes; ++seed) {
    const Change<Gaussian> change(seed, 5, 14);
    Moments bare = change.moments(change.old_x, change.old_y);
    const Eigen::MatrixXd carry_x = carry_matrix(change.old_x, change.new_x);
    const Eigen::MatrixXd carry_y = carry_matrix(change.old_y, change.new_y);
    const Sample sample = change.sample(12);
    const auto of_sample = [&](const Map& x, const Map& y) {
      Moments m(x.dim(), y.dim(), Moments::Parts::kAll);
      FeatureBlock<double> block_x;
      FeatureBlock<double> block_y;
      Workspace workspace;
      x.map(sample.x.view(), block_x, workspace);
      y.map(sample.y.view(), block_y, workspace);
      m.add(block_x.features, block_y.features, sample.weights.data(), workspace);
      return m;
    };
    Moments minus = of_sample(change.old_x, change.old_y);
    minus.transform(carry_x, carry_y);
    bare.transform(carry_x, carry_y);
    bare.correct(of_sample(change.new_x, change.new_y), minus);
    if (lowest_eigenvalue(bare.covariance()) < -1e-9) ++negative;
  }
  CHECK(negative > kShapes / 2);
}

// Both halves of a stream, the second from another part of space.
struct Drift {
  explicit Drift(std::uint64_t seed) {
    StreamShape shape;
    shape.dim_x = shape.dim_y = 6;
    shape.pairs = 6000;
    before = make_stream<float>(shape, seed);
    shape.turn = 4;
    shape.pairs = 12000;
    after = make_stream<float>(shape, seed + 1);
    config.x = {before.x.shape(), Kernel::gaussian(4), 40};
    config.y = {before.y.shape(), Kernel::gaussian(4), 40};
    config.forgetting = {Forgetting::Mode::kHalfLifePairs, 2000, 1};
    config.reservoir = 1024;
  }
  Stream<float> before;
  Stream<float> after;
  StreamConfig config;
};

TEST_CASE("Pivots recover from a jump of the distribution") {
  for (const std::uint64_t seed : {1, 2, 3, 4, 5}) {
    CAPTURE(seed);
    const Drift drift(seed);
    EstimatorSpec spec;
    Learner<float> live(drift.config);
    std::vector<double> unexplained;
    const auto stream_through = [&](const Stream<float>& stream) {
      for (std::size_t first = 0; first < stream.size(); first += 1000) {
        live.learn(slice(stream.x.view(), first, 1000), slice(stream.y.view(), first, 1000),
                   nullptr, nullptr, nullptr);
        unexplained.push_back(live.unexplained_x());
        if (const auto refreshed = refresh(live, spec, Learner<float>::Extent::kWithoutHeldBack);
            refreshed.pivots) {
          live.adopt(*refreshed.pivots);
        }
      }
    };
    stream_through(drift.before);
    const std::uint64_t settled = live.epoch();
    // A stream that stays as it is: the pivots were chosen early and kept.
    CHECK(settled <= 2);
    const double calm = unexplained.back();
    stream_through(drift.after);
    CHECK(live.epoch() > settled);
    CHECK(*std::max_element(unexplained.begin() + 6, unexplained.end()) > 3 * calm);
    CHECK(unexplained.back() < 2 * calm + 0.05);

    // A learner that has the same pivots from the first pair on: what the carry-over should come
    // to.
    Learner<float> scratch(drift.config);
    scratch.adopt({live.map_x(), live.map_y(), 0, 0});
    for (const Stream<float>* stream : {&drift.before, &drift.after}) {
      scratch.learn(stream->x.view(), stream->y.view(), nullptr, nullptr, nullptr);
    }
    const auto scores = [&](const Learner<float>& learner) {
      const auto model = refresh(learner, spec, Learner<float>::Extent::kAll).model;
      std::vector<double> result(500);
      ScoreScratch<float> memory;
      model->score(slice(drift.after.x.view(), 0, 500), slice(drift.after.y.view(), 0, 500),
                   result.data(), nullptr, memory);
      return result;
    };
    CHECK(relative_distance(scores(live), scores(scratch)) < 0.05);
  }
}

TEST_CASE("A changed bandwidth rebuilds from the sample") {
  StreamShape shape;
  shape.pairs = 3000;
  const Stream<double> narrow = make_stream<double>(shape, 5);
  StreamConfig config;
  config.x = {narrow.x.shape(), Kernel::gaussian(Kernel::Bandwidth::kMedian), 20};
  config.y = {narrow.y.shape(), Kernel::gaussian(Kernel::Bandwidth::kMedian), 20};
  config.forgetting = {Forgetting::Mode::kHalfLifePairs, 500, 1};
  Learner<double> learner(config);
  learner.learn(narrow.x.view(), narrow.y.view(), nullptr, nullptr, nullptr);
  learner.adopt(*learner.propose_pivots());
  const double sigma = learner.map_x()->kernel().sigma();
  // The same stream, spread ten times as wide.
  const ItemBlock<double> wide_x = scaled(narrow.x, 10);
  const ItemBlock<double> wide_y = scaled(narrow.y, 10);
  learner.learn(wide_x.view(), wide_y.view(), nullptr, nullptr, nullptr);
  REQUIRE(learner.wants_pivots());
  const double weight = learner.moments(Learner<double>::Extent::kAll).weight();
  learner.adopt(*learner.propose_pivots());
  CHECK(learner.map_x()->kernel().sigma() > 4 * sigma);
  CHECK(learner.moments(Learner<double>::Extent::kAll).weight() == Approx(weight).epsilon(1e-9));
  CHECK(lowest_eigenvalue(learner.moments(Learner<double>::Extent::kAll).covariance()) > -1e-12);
}

}  // namespace
}  // namespace phsic::test
