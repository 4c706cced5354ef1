// Feature space, full-pivot incomplete Cholesky and brute force in data space give the same scores.
#include <catch2/catch.hpp>

#include "core/dependence.h"
#include "tests/core/law.h"
#include "tests/core/oracle.h"
#include "tests/core/scene.h"

namespace phsic::test {
namespace {

using Linear = Subject<double, ItemKind::kDense, "linear", "linear">;
using Cosine = Subject<double, ItemKind::kSparse, "cosine", "linear">;
using Gaussian = Subject<double, ItemKind::kDense, "gaussian", "gaussian:sigma=scott">;
using Laplacian = Subject<double, ItemKind::kDense, "laplacian:gamma=0.2", "cosine">;
using Nested = Subject<double, ItemKind::kSparse,
                       "product(gaussian,sum(cosine,polynomial:gamma=0.1))", "laplacian:gamma=0.3">;
using Texts = Subject<double, ItemKind::kText, "spectrum:n=2", "sum(spectrum:n=1,spectrum:n=3)">;

struct Compared {
  std::vector<double> scores;
  std::vector<double> expected;
  double hsic = 0;
  double expected_hsic = 0;
};

// Learns n pairs with as many pivots as there are pairs (where pivots are needed, or everywhere),
// and scores them and some unseen ones.
template <class S>
Compared compare(std::uint64_t seed, bool pivots_everywhere, double kernel_error) {
  Scene<S> scene(seed, 50, 70);
  const std::size_t n = scene.stream.size() - 15;
  const auto train = part(scene.stream, 0, n);
  const auto unseen = part(scene.stream, n, scene.stream.size());
  StreamConfig config = scene.config;
  config.pivot_rule = seed % 2 == 0 ? PivotRule::kGreedy : PivotRule::kRandom;
  if (pivots_everywhere || config.x.uses_pivots()) config.x.pivots = static_cast<std::uint32_t>(n);
  if (pivots_everywhere || config.y.uses_pivots()) config.y.pivots = static_cast<std::uint32_t>(n);
  Learner<double> learner(config);
  scene.feed(learner, train);
  const auto model = refresh(learner, EstimatorSpec{}, Learner<double>::Extent::kAll).model;

  Compared compared;
  compared.scores.resize(unseen.size());
  ScoreScratch<double> scratch;
  model->score(unseen.x.view(), unseen.y.view(), compared.scores.data(), nullptr, scratch);
  const Kernel kernel_x = model->map_x()->kernel();
  const Kernel kernel_y = model->map_y()->kernel();
  std::vector<double> weights(n, 1);
  weights[0] += kernel_error;
  compared.expected =
      data_space_phsic(kernel_x, kernel_y, train.x, train.y, weights, unseen.x, unseen.y);
  compared.hsic = model->facts().dependence.hsic;
  compared.expected_hsic =
      data_space_hsic(gram(kernel_x, train.x, train.x), gram(kernel_y, train.y, train.y));
  return compared;
}

TEMPLATE_TEST_CASE("Explicit features agree with data space", "[oracle]", Linear, Cosine) {
  require_law("feature space = data space", 1e-9, [](std::uint64_t seed, Way way) {
    // Wrong: one of the learned pairs weighs more than the others.
    const auto c = compare<TestType>(seed, false, way == Way::kRight ? 0 : 0.5);
    return relative_distance(c.scores, c.expected);
  });
}

// Pivots stop where residuals fall to 1e-10 of the diagonal; what they leave out shows as 1e-5 in
// features.
TEMPLATE_TEST_CASE("Full pivots agree with data space", "[oracle]", Linear, Cosine, Gaussian,
                   Laplacian, Nested, Texts) {
  require_law("full-pivot ICD = data space", 1e-5, [](std::uint64_t seed, Way way) {
    const auto c = compare<TestType>(seed, true, way == Way::kRight ? 0 : 0.5);
    return relative_distance(c.scores, c.expected);
  });
}

TEMPLATE_TEST_CASE("HSIC agrees with the trace of centred Gram matrices", "[oracle]", Linear,
                   Cosine, Gaussian, Laplacian, Nested, Texts) {
  require_law("HSIC", 1e-6, [](std::uint64_t seed, Way way) {
    const auto c = compare<TestType>(seed, false, 0);
    const auto full = compare<TestType>(seed, true, 0);
    // Wrong: divided by (n - 1)^2, as some definitions have it.
    const double n = way == Way::kRight ? 1 : std::pow(50.0 / 49.0, 2);
    return std::abs(full.hsic * n / full.expected_hsic - 1) +
           (c.hsic > full.hsic * (1 + 1e-9) ? 1.0 : 0.0);
  });
}

}  // namespace
}  // namespace phsic::test
