// The laws that every kernel and every estimator obeys, each on 50 random shapes, and each shown to
// reject a deliberately wrong variant.
#include <Eigen/Eigenvalues>
#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>

#include "tests/core/law.h"
#include "tests/core/oracle.h"
#include "tests/core/scene.h"

namespace phsic::test {
namespace {

constexpr ItemKind kDense = ItemKind::kDense;
constexpr ItemKind kSparse = ItemKind::kSparse;
constexpr ItemKind kText = ItemKind::kText;

using DenseLinear = Subject<double, kDense, "linear", "linear">;
using DenseCosine = Subject<double, kDense, "cosine", "linear">;
using DenseGaussian = Subject<double, kDense, "gaussian", "gaussian:sigma=3">;
using DenseScott = Subject<double, kDense, "gaussian:sigma=scott", "gaussian:sigma=silverman">;
using DenseLaplacian = Subject<double, kDense, "laplacian:gamma=0.2", "cosine">;
using DensePolynomial = Subject<double, kDense, "polynomial:degree=2,gamma=0.1", "linear">;
using DenseSum = Subject<double, kDense, "sum(cosine,gaussian:sigma=2)", "sum(linear,linear)">;
using DenseNested =
    Subject<double, kDense, "product(gaussian,sum(cosine,polynomial:gamma=0.1))", "gaussian">;
using SparseLinear = Subject<double, kSparse, "linear", "linear">;
using SparseCosine = Subject<double, kSparse, "cosine", "cosine">;
using SparseGaussian = Subject<double, kSparse, "gaussian", "gaussian:sigma=scott">;
using SparseLaplacian = Subject<double, kSparse, "laplacian:gamma=0.1", "polynomial:gamma=0.2">;
using SparseProduct = Subject<double, kSparse, "product(cosine,gaussian)", "linear">;
using Texts = Subject<double, kText, "spectrum:n=2", "spectrum:n=3">;
using TextProduct =
    Subject<double, kText, "product(spectrum:n=1,spectrum:n=2)", "sum(spectrum:n=2,spectrum:n=4)">;
using FloatLinear = Subject<float, kDense, "linear", "linear">;
using FloatCosine = Subject<float, kDense, "cosine", "cosine">;
using FloatGaussian = Subject<float, kDense, "gaussian", "gaussian">;
using FloatSparse = Subject<float, kSparse, "cosine", "cosine">;

#define PHSIC_ALL_SUBJECTS                                                                        \
  DenseLinear, DenseCosine, DenseGaussian, DenseScott, DenseLaplacian, DensePolynomial, DenseSum, \
      DenseNested, SparseLinear, SparseCosine, SparseGaussian, SparseLaplacian, SparseProduct,    \
      Texts, TextProduct, FloatLinear, FloatCosine, FloatGaussian, FloatSparse

// A law is compiled once for each scalar, and learns its subject when it runs.
using Law = double (*)(const AnySubject&, std::uint64_t seed, Way way);

template <class S>
void require_law_of(const std::string& name, double tolerance, Law law) {
  const AnySubject subject{S::kKind, S::kernel_x(), S::kernel_y()};
  require_law(name, tolerance,
              [&](std::uint64_t seed, Way way) { return law(subject, seed, way); });
}

template <class T>
double batch_distance(const AnySubject& subject, std::uint64_t seed, Way way) {
  AnyScene<T> scene(subject, seed);
  auto learner = scene.learner();
  const auto weights = scene.random_weights(scene.stream.size());
  scene.feed(learner, scene.stream, weights);
  // Wrong: the batch misses the last pairs, as if an incomplete block were dropped.
  const std::size_t end = scene.stream.size() * (way == Way::kRight ? 10 : 9) / 10;
  const Covariance batch = scene.batch(learner, part(scene.stream, 0, end),
                                       {weights.begin(), weights.begin() + long(end)});
  return scene.distance(learner, scene.learned(learner), batch);
}

TEMPLATE_TEST_CASE("Streaming gives what a batch gives", "[law]", PHSIC_ALL_SUBJECTS) {
  require_law_of<TestType>("streaming = batch", TestType::kTolerance,
                           batch_distance<typename TestType::Scalar>);
}

template <class T>
double merge_distance(const AnySubject& subject, std::uint64_t seed, Way way) {
  AnyScene<T> scene(subject, seed);
  auto whole = scene.learner();
  scene.feed(whole, scene.stream);
  const std::size_t n = scene.stream.size();
  const std::size_t cuts[] = {0, scene.random.below(n / 2), n / 2 + scene.random.below(n / 2), n};
  auto merged = scene.learner();
  for (std::size_t i = 0; i < 3; ++i) {
    StreamConfig config = scene.config;
    config.seed += i + 1;
    auto piece = scene.learner(config);
    scene.feed(piece, part(scene.stream, cuts[i], cuts[i + 1]));
    merged.merge(piece);
    // Wrong: a piece is merged twice, as after a lost acknowledgement.
    if (way == Way::kWrong && i == 2) merged.merge(piece);
  }
  if (way == Way::kRight && merged.accepted() != n) return 1e9;
  return scene.distance(whole, scene.learned(merged), scene.learned(whole));
}

TEMPLATE_TEST_CASE("Any split and merge gives the whole", "[law]", PHSIC_ALL_SUBJECTS) {
  require_law_of<TestType>("merge = whole", TestType::kTolerance,
                           merge_distance<typename TestType::Scalar>);
}

template <class T>
double aged_merge_distance(const AnySubject& subject, std::uint64_t seed, Way way) {
  AnyScene<T> scene(subject, seed);
  const bool by_seconds = seed % 2 == 0;
  const double span = 20 + 100 * scene.random.uniform();
  scene.config.forgetting = {
      by_seconds ? Forgetting::Mode::kHalfLifeSeconds : Forgetting::Mode::kHalfLifePairs, span, 1};
  const std::size_t n = scene.stream.size();
  // Ours may be all, some or none of the pairs; then both go on.
  const std::size_t cut = seed % 5 == 0 ? 0 : scene.random.below(n);
  const std::size_t ours_end = cut * 3 / 4;
  std::vector<double> times(n);
  for (std::size_t i = 0; i < n; ++i) times[i] = 1e6 + (i < cut ? 0 : 30) + 0.1 * double(i);
  StreamConfig other = scene.config;
  other.seed += 1;
  auto ours = scene.learner();
  auto theirs = scene.learner(other);
  const auto feed = [&](auto& learner, std::size_t from, std::size_t to) {
    scene.feed(learner, part(scene.stream, from, to), {},
               std::vector<double>(times.begin() + long(from), times.begin() + long(to)));
  };
  feed(ours, 0, ours_end);
  feed(theirs, ours_end, n);
  ours.merge(theirs);
  std::vector<double> later(30, times.back() + 5);
  scene.feed(ours, scene.test, {}, later);

  std::vector<double> weights(n);
  for (std::size_t i = 0; i < n; ++i) {
    // By pairs, the newest pairs of both learners were now when they were merged; then 30 more
    // came.
    const std::size_t end = i < ours_end ? ours_end : n;
    const double age = by_seconds ? later[0] - times[i] : double(end - 1 - i) + 30;
    // Wrong: the pairs that were merged in do not age.
    const bool frozen = way == Way::kWrong && i >= ours_end;
    weights[i] = frozen ? 1 : std::exp2(-age / span);
  }
  auto all = scene.stream;
  all.x.append_all(scene.test.x);
  all.y.append_all(scene.test.y);
  for (std::size_t i = 0; i < 30; ++i) {
    weights.push_back(by_seconds ? 1 : std::exp2(-double(29 - i) / span));
  }
  const Covariance expected = scene.batch(ours, all, weights);
  const Covariance found = scene.learned(ours);
  return std::max(scene.distance(ours, found, expected),
                  std::abs(found.weight / expected.weight - 1));
}

TEMPLATE_TEST_CASE("Merging under forgetting weighs both by age", "[law]", DenseLinear,
                   DenseGaussian, SparseCosine, FloatCosine) {
  require_law_of<TestType>("merge under forgetting", TestType::kTolerance,
                           aged_merge_distance<typename TestType::Scalar>);
}

template <class T>
double order_distance(const AnySubject& subject, std::uint64_t seed, Way way) {
  AnyScene<T> scene(subject, seed);
  auto in_order = scene.learner();
  scene.feed(in_order, scene.stream);
  const std::uint64_t order = scene.random.bits();
  Stream<T> mixed = shuffled(scene.stream, order);
  // Wrong: the sides are shuffled apart.
  if (way == Way::kWrong) mixed.y = scene.stream.y;
  auto out_of_order = scene.learner();
  scene.feed(out_of_order, mixed);
  return scene.distance(in_order, scene.learned(out_of_order), scene.learned(in_order));
}

TEMPLATE_TEST_CASE("Any order gives the same", "[law]", PHSIC_ALL_SUBJECTS) {
  require_law_of<TestType>("order does not matter", TestType::kTolerance,
                           order_distance<typename TestType::Scalar>);
}

template <class T>
double density_distance(const AnySubject& subject, std::uint64_t seed, Way way) {
  AnyScene<T> scene(subject, seed);
  auto sparse = scene.learner();
  scene.feed(sparse, scene.stream);
  const auto dense_pivots = [](const std::shared_ptr<const FeatureMap<T>>& map) {
    if (map == nullptr) return map;
    PivotSet<T> set = *map->pivots();
    set.items = densified(set.items);
    return std::make_shared<const FeatureMap<T>>(std::move(set));
  };
  StreamConfig config = scene.config;
  config.x.items.kind = config.y.items.kind = ItemKind::kDense;
  Learner<T> dense(config);
  if (scene.pivots) {
    dense.adopt({dense_pivots(scene.pivots->x), dense_pivots(scene.pivots->y), 0, 0});
  }
  const Stream<T> pairs{densified(scene.stream.x), densified(scene.stream.y)};
  // Wrong: one pair in ten is missing.
  scene.feed(dense, part(pairs, 0, pairs.size() * (way == Way::kRight ? 10 : 9) / 10));
  const auto left = scene.scores(sparse, scene.learned(sparse), scene.test);
  const auto right =
      scene.scores(dense, scene.learned(dense), {densified(scene.test.x), densified(scene.test.y)});
  double largest = 0;
  for (std::size_t e = 0; e < left.size(); ++e) {
    largest = std::max(largest, relative_distance(left[e], right[e]));
  }
  return largest;
}

TEMPLATE_TEST_CASE("Sparse items give what dense ones give", "[law]", SparseLinear, SparseCosine,
                   SparseGaussian, SparseLaplacian, SparseProduct, FloatSparse) {
  require_law_of<TestType>("sparse = dense", TestType::kTolerance,
                           density_distance<typename TestType::Scalar>);
}

template <class T>
double weight_distance(const AnySubject& subject, std::uint64_t seed, Way way) {
  AnyScene<T> scene(subject, seed);
  const std::size_t half = scene.stream.size() / 2;
  auto twice = scene.learner();
  scene.feed(twice, scene.stream);
  scene.feed(twice, part(scene.stream, 0, half));
  std::vector<double> weights(scene.stream.size(), 1);
  // Wrong: the root of the weight, as if it were applied to one factor of the products only.
  std::fill_n(weights.begin(), half, way == Way::kRight ? 2 : std::sqrt(2));
  auto weighted = scene.learner();
  scene.feed(weighted, scene.stream, weights);
  return scene.distance(twice, scene.learned(weighted), scene.learned(twice));
}

TEMPLATE_TEST_CASE("A pair of weight 2 counts as the pair twice", "[law]", PHSIC_ALL_SUBJECTS) {
  require_law_of<TestType>("weight 2 = twice", TestType::kTolerance,
                           weight_distance<typename TestType::Scalar>);
}

template <class T>
double age_distance(const AnySubject& subject, std::uint64_t seed, Way way) {
  AnyScene<T> scene(subject, seed);
  const bool by_seconds = scene.random.below(2) == 0;
  const double span = 5 + 100 * scene.random.uniform();
  scene.config.forgetting = {
      by_seconds ? Forgetting::Mode::kHalfLifeSeconds : Forgetting::Mode::kHalfLifePairs, span, 1};
  const std::size_t n = scene.stream.size();
  // A clock like a real one: far from 0, at an uneven pace.
  std::vector<double> times(n, 1.7e9);
  for (std::size_t i = 1; i < n; ++i) times[i] = times[i - 1] + 2 * scene.random.uniform();
  auto learner = scene.learner();
  const auto given = scene.random_weights(n);
  scene.feed(learner, scene.stream, given, times);
  // Wrong: a half-life a tenth too long.
  const double half_life = way == Way::kRight ? span : 1.1 * span;
  std::vector<double> weights(n);
  for (std::size_t i = 0; i < n; ++i) {
    const double age = by_seconds ? times[n - 1] - times[i] : double(n - 1 - i);
    weights[i] = given[i] * std::exp2(-age / half_life);
  }
  const Covariance expected = scene.batch(learner, scene.stream, weights);
  const Covariance found = scene.learned(learner);
  return std::max(scene.distance(learner, found, expected),
                  std::abs(found.effective_pairs / expected.effective_pairs - 1));
}

TEMPLATE_TEST_CASE("Forgetting weighs a pair by its age", "[law]", PHSIC_ALL_SUBJECTS) {
  require_law_of<TestType>("forgetting = weights", TestType::kTolerance,
                           age_distance<typename TestType::Scalar>);
}

template <class T>
double window_distance(const AnySubject& subject, std::uint64_t seed, Way way) {
  AnyScene<T> scene(subject, seed, 1200, 1600);
  const auto buckets = static_cast<std::uint32_t>(1 + scene.random.below(4));
  const double span = 100 + 500 * scene.random.uniform();
  scene.config.forgetting = {Forgetting::Mode::kWindowPairs, span, buckets};
  // A bucket is a whole number of blocks; the window is the newest pair's bucket and those
  // before.
  const std::size_t kept =
      std::min<std::size_t>(buckets, std::max<std::size_t>(1, std::size_t(span) / 256));
  const std::size_t size = std::size_t(std::ceil(span / double(kept) / 256)) * 256;
  std::size_t n = scene.stream.size();
  if ((n - 1) % size < 60) n -= 60;  // enough pairs in it to compare
  auto learner = scene.learner();
  scene.feed(learner, part(scene.stream, 0, n));
  const std::size_t newest = (n - 1) / size;
  // Wrong: one bucket too many.
  const std::size_t count = kept + (way == Way::kRight ? 0 : 1);
  const std::size_t first = (newest + 1 - std::min(newest + 1, count)) * size;
  const Covariance expected =
      scene.batch(learner, part(scene.stream, first, n), std::vector<double>(n - first, 1));
  return scene.distance(learner, scene.learned(learner), expected);
}

TEMPLATE_TEST_CASE("A window knows the window's pairs only", "[law]", DenseLinear, DenseCosine,
                   DenseGaussian, SparseCosine, Texts, FloatLinear, FloatGaussian) {
  require_law_of<TestType>("window = its pairs", TestType::kTolerance,
                           window_distance<typename TestType::Scalar>);
}

template <class T>
double saved_distance(const AnySubject& subject, std::uint64_t seed, Way way) {
  AnyScene<T> scene(subject, seed);
  if (scene.random.below(2) == 0) {
    scene.config.forgetting = {Forgetting::Mode::kHalfLifePairs, 50, 1};
  }
  auto learner = scene.learner();
  scene.feed(learner, scene.stream);
  const std::string bytes = serialise(learner);
  auto copy = parse<Learner<T>>(bytes);
  if (serialise(copy) != bytes) return 1.0;
  // Both go on alike, and so do the models built from them. Wrong: one more pair in one of them.
  scene.feed(learner, scene.test);
  scene.feed(copy, scene.test);
  if (way == Way::kWrong) scene.feed(copy, part(scene.test, 0, 1));
  if (serialise(copy) != serialise(learner)) return 1.0;
  EstimatorSpec spec;
  spec.kind = EstimatorKind::kGaussianPmi;
  const auto model = refresh(learner, spec, Learner<T>::Extent::kAll).model;
  const std::string model_bytes = serialise(*model);
  const bool same =
      model_bytes == serialise(*refresh(copy, spec, Learner<T>::Extent::kAll).model) &&
      serialise(parse<Model<T>>(model_bytes)) == model_bytes;
  return same ? 0.0 : 1.0;
}

TEMPLATE_TEST_CASE("What was saved is read back to the same bits", "[law]", PHSIC_ALL_SUBJECTS) {
  require_law_of<TestType>("serialise, parse = identity", 0,
                           saved_distance<typename TestType::Scalar>);
}

template <class T>
double rank_distance(const AnySubject& subject, std::uint64_t seed, Way way) {
  AnyScene<T> scene(subject, seed);
  auto learner = scene.learner();
  scene.feed(learner, scene.stream);
  const Covariance covariance = scene.learned(learner);
  // Wrong: all but the strongest direction are dropped.
  const auto full = std::size_t(std::min(covariance.xy.rows(), covariance.xy.cols()));
  const std::size_t rank = way == Way::kRight ? full : 1;
  FeatureBlock<T> x;
  FeatureBlock<T> y;
  Workspace workspace;
  learner.map_x()->map(scene.test.x.view(), x, workspace);
  learner.map_y()->map(scene.test.y.view(), y, workspace);
  std::vector<double> exact(scene.test.size());
  std::vector<double> ranked(scene.test.size());
  Estimator<T>::phsic(covariance, 0, true, 1)
      .score(x.features, y.features, exact.data(), workspace);
  Estimator<T>::phsic(covariance, rank, true, 1)
      .score(x.features, y.features, ranked.data(), workspace);
  return relative_distance(ranked, exact);
}

TEMPLATE_TEST_CASE("Full rank is exact", "[law]", PHSIC_ALL_SUBJECTS) {
  require_law_of<TestType>("rank d = exact", TestType::kTolerance,
                           rank_distance<typename TestType::Scalar>);
}

template <class T>
double definite_distance(const AnySubject& subject, std::uint64_t seed, Way way) {
  AnyScene<T> scene(subject, seed, 40, 60);
  const ItemBlock<T>& items = scene.stream.x;
  const ItemBlock<double> precise = items.template cast<double>();
  const Kernel kernel =
      subject.kernel_x.fitted(precise.view(), std::vector<double>(items.size(), 1), seed);
  Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> k(items.size(), items.size());
  Workspace workspace;
  KernelColumns<T>(kernel, items).evaluate(items.view(), k.data(), workspace);
  Eigen::MatrixXd gram_matrix = k.template cast<double>();
  const Eigen::MatrixXd expected = gram(kernel, precise, precise);
  const double scale = expected.trace();
  double worst = (gram_matrix - expected).cwiseAbs().maxCoeff() / scale;
  // Wrong: the largest value lies off the diagonal.
  if (way == Way::kWrong) {
    gram_matrix(0, 1) = gram_matrix(1, 0) = 1.01 * std::sqrt(gram_matrix(0, 0) * gram_matrix(1, 1));
  }
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(
      0.5 * (gram_matrix + gram_matrix.transpose()), Eigen::EigenvaluesOnly);
  worst = std::max(worst, -solver.eigenvalues().minCoeff() / scale);
  for (std::size_t i = 0; i < items.size(); ++i) {
    const double self = self_kernel(kernel, items.view(), i);
    worst = std::max(worst, std::abs(self - expected(Eigen::Index(i), Eigen::Index(i))) / scale);
  }
  return worst;
}

TEMPLATE_TEST_CASE("Every kernel, sum and product is positive semidefinite", "[law]",
                   PHSIC_ALL_SUBJECTS) {
  require_law_of<TestType>("positive semidefinite",
                           sizeof(typename TestType::Scalar) == 4 ? 1e-5 : 1e-12,
                           definite_distance<typename TestType::Scalar>);
}

}  // namespace
}  // namespace phsic::test
