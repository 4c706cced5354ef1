// The bits of a score depend on its pair alone, not on what is scored beside it or where.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <optional>
#include <vector>

#include "core/estimator.h"
#include "core/learner.h"
#include "core/model.h"
#include "tests/core/reduced.h"
#include "tests/core/scene.h"

namespace phsic::test {
namespace {

// A model of a random shape, larger than those of the other laws: the order in which few numbers
// are added shows in few bits.
template <class T>
struct Scored {
  Scored(const AnySubject& subject, std::uint64_t seed) : random(seed) {
    StreamShape shape;
    shape.kind = subject.kind;
    shape.dim_x = static_cast<std::uint32_t>(20 + random.below(60));
    shape.dim_y = static_cast<std::uint32_t>(20 + random.below(60));
    shape.pairs = 260 + random.below(60);
    stream = make_stream<T>(shape, random.bits());
    StreamConfig config;
    config.x = {stream.x.shape(), subject.kernel_x, 0};
    config.y = {stream.y.shape(), subject.kernel_y, 0};
    if (config.x.uses_pivots()) config.x.pivots = static_cast<std::uint32_t>(10 + random.below(40));
    if (config.y.uses_pivots()) config.y.pivots = static_cast<std::uint32_t>(10 + random.below(40));
    Learner<T> learner(config);
    learner.learn(stream.x.view(), stream.y.view(), nullptr, nullptr, nullptr);
    if (const auto pivots = learner.propose_pivots()) learner.adopt(*pivots);
    const Covariance covariance = learner.moments(Learner<T>::Extent::kAll).covariance();
    const auto estimator =
        seed % 2 == 0
            ? Estimator<T>::phsic(covariance, 0, true, seed)
            : Estimator<T>::gaussian_pmi(covariance, canonical_basis(covariance, 0.1, 20, seed));
    model.emplace(config.x.items, config.y.items, learner.map_x(), learner.map_y(), estimator,
                  Calibration(), ModelFacts());
  }

  // Of pairs first .. first + count, as a batch.
  [[nodiscard]] std::vector<double> scores(std::size_t first, std::size_t count) {
    std::vector<double> found(count);
    model->score(slice(stream.x.view(), first, count), slice(stream.y.view(), first, count),
                 found.data(), nullptr, scratch);
    return found;
  }
  [[nodiscard]] std::vector<double> scores() { return scores(0, stream.size()); }

  // The same in batches of random sizes, up to `most`, in which each pair has another place.
  [[nodiscard]] std::vector<double> scores_in_batches(std::size_t most) {
    std::vector<double> all;
    while (all.size() < stream.size()) {
      const std::size_t count = std::min(1 + random.below(most), stream.size() - all.size());
      const auto some = scores(all.size(), count);
      all.insert(all.end(), some.begin(), some.end());
    }
    return all;
  }

  Random random;
  Stream<T> stream;
  std::optional<Model<T>> model;
  ScoreScratch<T> scratch;
};

template <class S>
AnySubject subject_of() {
  return {S::kKind, S::kernel_x(), S::kernel_y()};
}

using FloatLinear = Subject<float, ItemKind::kDense, "linear", "cosine">;
using FloatGaussian = Subject<float, ItemKind::kDense, "gaussian", "gaussian:sigma=scott">;
using FloatOthers = Subject<float, ItemKind::kDense, "laplacian:gamma=0.02",
                            "product(cosine,polynomial:gamma=0.01)">;
using FloatSparsePivots = Subject<float, ItemKind::kSparse, "gaussian", "laplacian:gamma=0.1">;
using FloatTexts = Subject<float, ItemKind::kText, "spectrum:n=2", "spectrum:n=3">;
using DoubleLinear = Subject<double, ItemKind::kDense, "linear", "cosine">;
using DoubleGaussian = Subject<double, ItemKind::kDense, "gaussian", "sum(linear,gaussian)">;

using FloatSparse = Subject<float, ItemKind::kSparse, "cosine", "linear">;

TEMPLATE_TEST_CASE("A score has the same bits in any batch and at any place", "[law]", FloatLinear,
                   FloatGaussian, FloatOthers, FloatSparse, FloatSparsePivots, FloatTexts,
                   DoubleLinear, DoubleGaussian) {
  for (std::uint64_t seed = 1; seed <= reduced(12, 4); ++seed) {
    CAPTURE(seed);
    Scored<typename TestType::Scalar> scored(subject_of<TestType>(), seed);
    const auto together = scored.scores();
    for (const std::size_t most : {1, 5, 20, 64}) {
      REQUIRE(scored.scores_in_batches(most) == together);
    }
  }
}

TEMPLATE_TEST_CASE("One x against many y scores like the pairs, to the same bits", "", FloatLinear,
                   FloatGaussian, FloatSparse, FloatTexts, DoubleGaussian) {
  using T = typename TestType::Scalar;
  Scored<T> scored(subject_of<TestType>(), 3);
  const std::size_t n = scored.stream.size();
  const auto pairs = scored.scores();
  for (const std::size_t i : {std::size_t{0}, std::size_t{5}, n - 1}) {
    std::vector<double> many(n);
    scored.model->score_one_to_many(slice(scored.stream.x.view(), i, 1), scored.stream.y.view(),
                                    many.data(), nullptr, scored.scratch);
    CHECK(many[i] == pairs[i]);
  }
}

TEST_CASE("A bad neighbour leaves the bits of a score alone") {
  Scored<float> scored(subject_of<FloatGaussian>(), 4);
  const auto rows = std::get<DenseRows<float>>(scored.stream.x.view());
  const auto clean = scored.scores();
  std::vector<float> x(rows.data, rows.data + rows.rows * rows.dim);
  for (std::size_t i = 0; i < rows.rows; i += 9) x[i * rows.dim] = NAN;
  std::vector<double> scores(rows.rows);
  scored.model->score(DenseRows<float>{x.data(), rows.rows, rows.dim}, scored.stream.y.view(),
                      scores.data(), nullptr, scored.scratch);
  for (std::size_t i = 0; i < rows.rows; ++i) {
    if (i % 9 != 0) CHECK(scores[i] == clean[i]);
  }
}

}  // namespace
}  // namespace phsic::test
