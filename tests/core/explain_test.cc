// Explanations: what learned pairs contribute to a score, and that it adds up to the score.
#include "core/explain.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <numeric>

#include "tests/core/law.h"
#include "tests/core/oracle.h"
#include "tests/core/scene.h"

namespace phsic::test {
namespace {

using Linear = Subject<double, ItemKind::kDense, "linear", "linear">;
using Cosine = Subject<double, ItemKind::kSparse, "cosine", "linear">;
using Gaussian = Subject<double, ItemKind::kDense, "gaussian", "gaussian:sigma=scott">;
using Texts = Subject<double, ItemKind::kText, "spectrum:n=2", "sum(spectrum:n=1,spectrum:n=3)">;
using Served = Subject<float, ItemKind::kSparse, "cosine", "gaussian">;
using ServedDense = Subject<float, ItemKind::kDense, "linear", "cosine">;

template <class T>
typename Reservoir<T>::Sample whole(const Stream<T>& stream, const std::vector<double>& weights) {
  std::vector<std::uint64_t> sequences(stream.size());
  std::iota(sequences.begin(), sequences.end(), std::uint64_t{0});
  return {stream.x, stream.y, weights, sequences};
}

template <class T>
std::vector<double> contributions_to(const Explainer<T>& explainer, const Stream<T>& pairs,
                                     std::size_t i, Explanation& explanation) {
  std::vector<double> contributions(explainer.size());
  ScoreScratch<T> scratch;
  explanation = explainer.explain(slice(pairs.x.view(), i, 1), slice(pairs.y.view(), i, 1),
                                  contributions.data(), scratch);
  return contributions;
}

// k~(t, i) of test items with learned ones, centred by the weighted means unless told not to.
Eigen::MatrixXd centred_gram(const Kernel& kernel, const ItemBlock<double>& test,
                             const ItemBlock<double>& learned, const std::vector<double>& weights,
                             bool centered) {
  Eigen::MatrixXd k = gram(kernel, test, learned);
  if (!centered) return k;
  const Eigen::MatrixXd among = gram(kernel, learned, learned);
  Eigen::VectorXd w =
      Eigen::Map<const Eigen::VectorXd>(weights.data(), Eigen::Index(weights.size()));
  w /= w.sum();
  const Eigen::VectorXd test_mean = k * w;
  const Eigen::VectorXd learned_mean = among * w;
  const double mean = w.dot(learned_mean);
  for (Eigen::Index t = 0; t < k.rows(); ++t) {
    for (Eigen::Index i = 0; i < k.cols(); ++i) k(t, i) += mean - test_mean(t) - learned_mean(i);
  }
  return k;
}

// How far the contributions are from the terms of PHSIC's sum in data space, for unseen pairs.
template <class S>
double distance_to_kernel_sum(std::uint64_t seed, Way way) {
  Scene<S> scene(seed, 50, 70);
  const std::size_t n = scene.stream.size() - 10;
  const auto train = part(scene.stream, 0, n);
  const auto unseen = part(scene.stream, n, scene.stream.size());
  const std::vector<double> weights = scene.random_weights(n);
  StreamConfig config = scene.config;
  if (config.x.uses_pivots()) config.x.pivots = static_cast<std::uint32_t>(n);
  if (config.y.uses_pivots()) config.y.pivots = static_cast<std::uint32_t>(n);
  Learner<double> learner(config);
  scene.feed(learner, train, weights);
  EstimatorSpec spec;
  spec.centered = seed % 3 != 0;
  const auto model = refresh(learner, spec, Learner<double>::Extent::kAll).model;
  const Explainer<double> explainer(model, whole(train, weights));

  // Wrong: as if all pairs weighed the same.
  const std::vector<double> used = way == Way::kRight ? weights : std::vector<double>(n, 1);
  const double total = std::accumulate(used.begin(), used.end(), 0.0);
  const Eigen::MatrixXd k =
      centred_gram(model->map_x()->kernel(), unseen.x, train.x, used, spec.centered);
  const Eigen::MatrixXd l =
      centred_gram(model->map_y()->kernel(), unseen.y, train.y, used, spec.centered);
  std::vector<double> found;
  std::vector<double> expected;
  for (std::size_t t = 0; t < unseen.size(); ++t) {
    Explanation explanation;
    for (const double value : contributions_to(explainer, unseen, t, explanation)) {
      const auto i = Eigen::Index(found.size() % n);
      found.push_back(value);
      expected.push_back(used[std::size_t(i)] / total * k(Eigen::Index(t), i) *
                         l(Eigen::Index(t), i));
    }
    REQUIRE(explanation.fault == Fault::kNone);
    CHECK(explanation.rest == 0);
  }
  return relative_distance(found, expected);
}

TEMPLATE_TEST_CASE("Contributions to phsic are the terms of its sum over learned pairs", "[oracle]",
                   Linear, Cosine) {
  require_law("contributions = kernel terms", 1e-9, distance_to_kernel_sum<TestType>);
}

// Pivots leave out residuals of 1e-10, which show as 1e-5 in features.
TEMPLATE_TEST_CASE("By full pivots, too", "[oracle]", Gaussian, Texts) {
  require_law("contributions = kernel terms", 1e-5, distance_to_kernel_sum<TestType>);
}

std::vector<EstimatorSpec> all_specs() {
  std::vector<EstimatorSpec> specs;
  for (const auto kind :
       {EstimatorKind::kPhsic, EstimatorKind::kWhitened, EstimatorKind::kGaussianPmi}) {
    for (const std::size_t rank : {0, 2}) {
      EstimatorSpec spec;
      spec.kind = kind;
      spec.ridge = 0.1;
      spec.rank = rank;
      spec.phsic_at_rank = rank > 0;
      specs.push_back(spec);
    }
  }
  specs.push_back(specs.front());
  specs.back().centered = false;
  return specs;
}

// How far rest + contributions are from the scores, at worst of all estimators.
template <class T>
double distance_to_scores(const Learner<T>& learner, const typename Reservoir<T>::Sample& sample,
                          const Stream<T>& pairs) {
  double worst = 0;
  for (const EstimatorSpec& spec : all_specs()) {
    const auto model = refresh(learner, spec, Learner<T>::Extent::kAll).model;
    const Explainer<T> explainer(model, sample);
    std::vector<double> sums;
    std::vector<double> scores(pairs.size());
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      Explanation explanation;
      const auto contributions = contributions_to(explainer, pairs, i, explanation);
      sums.push_back(std::accumulate(contributions.begin(), contributions.end(), explanation.rest));
      if (spec.kind != EstimatorKind::kGaussianPmi) CHECK(explanation.rest == 0);
      ScoreScratch<T> scratch;
      model->score(slice(pairs.x.view(), i, 1), slice(pairs.y.view(), i, 1), &scores[i], nullptr,
                   scratch);
      CHECK(explanation.score == scores[i]);
    }
    worst = std::max(worst, relative_distance(sums, scores));
  }
  return worst;
}

TEMPLATE_TEST_CASE("Over all that was learned, contributions and rest add up to the score",
                   "[oracle]", Linear, Cosine, Gaussian, Texts, Served, ServedDense) {
  require_law(
      "rest + contributions = score", TestType::kTolerance, [](std::uint64_t seed, Way way) {
        Scene<TestType> scene(seed, 60, 90);
        auto weights = scene.random_weights(scene.stream.size());
        auto learner = scene.learner();
        scene.feed(learner, scene.stream, weights);
        // Wrong: some pairs weigh more in the sample than they did when learned.
        for (std::size_t i = 0; way == Way::kWrong && i < 5; ++i) weights[i] += 1;
        return distance_to_scores(learner, whole(scene.stream, weights), part(scene.stream, 0, 5));
      });
}

TEST_CASE("The learner's own sample adds up while it holds every pair, whatever they fade to") {
  for (const auto mode : {Forgetting::Mode::kNever, Forgetting::Mode::kHalfLifePairs}) {
    const auto stream = make_stream<double>({.dim_x = 5, .dim_y = 4, .pairs = 1024}, 3);
    StreamConfig config;
    config.x = {stream.x.shape(), Kernel::linear(), 0};
    config.y = {stream.y.shape(), Kernel::cosine(), 0};
    config.held_back = 0;
    config.forgetting.mode = mode;
    config.forgetting.span = 200;
    Learner<double> learner(config);
    learner.learn(stream.x.view(), stream.y.view(), nullptr, nullptr, nullptr);
    REQUIRE(learner.sample().weights.size() == stream.size());
    CHECK(distance_to_scores(learner, learner.sample(), part(stream, 0, 20)) < 1e-8);
  }
}

TEST_CASE("A smaller sample estimates the same sum") {
  const auto stream = make_stream<float>({.dim_x = 6, .dim_y = 6, .pairs = 20'000}, 4);
  StreamConfig config;
  config.x = {stream.x.shape(), Kernel::cosine(), 0};
  config.y = {stream.y.shape(), Kernel::cosine(), 0};
  config.reservoir = 2000;
  Learner<float> learner(config);
  learner.learn(stream.x.view(), stream.y.view(), nullptr, nullptr, nullptr);
  REQUIRE(learner.sample().weights.size() == 2000);
  // In standard deviations of the scores, the worst of 50 pairs under seven estimators.
  CHECK(distance_to_scores(learner, learner.sample(), part(stream, 0, 50)) < 0.6);
}

// Pairs about one of four things each: x and y point roughly in the direction of their topic.
constexpr std::size_t kTopics = 4;

struct Topics {
  explicit Topics(std::size_t pairs) {
    Random random(5);
    const auto append = [&](ItemBlock<float>& items, std::size_t topic) {
      std::vector<float> row(kTopics);
      for (float& value : row) value = static_cast<float>(0.1 * random.normal());
      row[topic] += 1;
      REQUIRE(items.append(DenseRows<float>{row.data(), 1, kTopics}, 0) == Fault::kNone);
    };
    for (std::size_t i = 0; i < pairs; ++i) {
      append(stream.x, i % kTopics);
      append(stream.y, i % kTopics);
    }
    StreamConfig config;
    config.x = {stream.x.shape(), Kernel::cosine(), 0};
    config.y = config.x;
    learner.emplace(config);
    learner->learn(stream.x.view(), stream.y.view(), nullptr, nullptr, nullptr);
  }

  [[nodiscard]] Explainer<float> explainer(EstimatorKind kind) const {
    EstimatorSpec spec;
    spec.kind = kind;
    spec.ridge = 0.1;
    const auto model = refresh(*learner, spec, Learner<float>::Extent::kAll).model;
    return {model, whole(stream, std::vector<double>(stream.size(), 1))};
  }

  Stream<float> stream{ItemBlock<float>({ItemKind::kDense, kTopics}),
                       ItemBlock<float>({ItemKind::kDense, kTopics})};
  std::optional<Learner<float>> learner;
};

TEST_CASE(
    "A learned pair is raised by itself and its like, a mismatched one lowered by both halves") {
  const Topics topics(400);
  for (const auto kind :
       {EstimatorKind::kPhsic, EstimatorKind::kWhitened, EstimatorKind::kGaussianPmi}) {
    CAPTURE(name_of(kind));
    const auto explainer = topics.explainer(kind);
    std::vector<double> contributions(explainer.size());
    ScoreScratch<float> scratch;
    for (std::size_t i = 0; i < 40; ++i) {
      const auto x = slice(topics.stream.x.view(), i, 1);
      const auto own = slice(topics.stream.y.view(), i, 1);
      const auto other = slice(topics.stream.y.view(), i + 1, 1);
      const auto matched = explainer.explain(x, own, contributions.data(), scratch);
      CHECK(contributions[i] > 0);
      const auto raising = strongest(contributions, 5).raising;
      REQUIRE(raising.size() == 5);
      for (const std::size_t j : raising) CHECK(j % kTopics == i % kTopics);
      const auto mismatched = explainer.explain(x, other, contributions.data(), scratch);
      const auto lowering = strongest(contributions, 5).lowering;
      REQUIRE(lowering.size() == 5);
      for (const std::size_t j : lowering) {
        CHECK((j % kTopics == i % kTopics || j % kTopics == (i + 1) % kTopics));
      }
      CHECK(matched.score > mismatched.score);
    }
  }
}

TEST_CASE("The strongest pairs are in order, and raise or lower indeed") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> contributions = {0, 3, -1, nan, 5, 3, -4, 0, 1};
  const auto two = strongest(contributions, 2);
  CHECK(two.raising == std::vector<std::size_t>{4, 1});
  CHECK(two.lowering == std::vector<std::size_t>{6, 2});
  const auto all = strongest(contributions, 100);
  CHECK(all.raising == std::vector<std::size_t>{4, 1, 5, 8});
  CHECK(all.lowering == std::vector<std::size_t>{6, 2});
  CHECK(strongest(contributions, 0).raising.empty());
  CHECK(strongest({}, 3).lowering.empty());
}

TEST_CASE("A faulty pair is told, not explained") {
  const Topics topics(100);
  const auto explainer = topics.explainer(EstimatorKind::kGaussianPmi);
  std::vector<double> contributions(explainer.size());
  ScoreScratch<float> scratch;
  const auto good = slice(topics.stream.x.view(), 0, 1);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float bad[] = {0, 1, nan, 0};
  const auto fault_of = [&](const Items<float>& x, const Items<float>& y) {
    const Explanation explanation = explainer.explain(x, y, contributions.data(), scratch);
    CHECK(std::isnan(explanation.score));
    CHECK(std::isnan(explanation.rest));
    return explanation.fault;
  };
  CHECK(fault_of(DenseRows<float>{bad, 1, 4}, good) == Fault::kNotFinite);
  CHECK(fault_of(good, DenseRows<float>{bad, 1, 4}) == Fault::kNotFinite);
  CHECK(fault_of(good, DenseRows<float>{bad, 1, 2}) == Fault::kWrongShape);
  CHECK(fault_of(slice(topics.stream.x.view(), 0, 2), slice(topics.stream.y.view(), 0, 2)) ==
        Fault::kWrongShape);
  CHECK(fault_of(slice(topics.stream.x.view(), 0, 0), slice(topics.stream.y.view(), 0, 0)) ==
        Fault::kWrongShape);
}

TEST_CASE("A model that has learned nothing explains every score, 0, by nothing") {
  StreamConfig config;
  config.x = {{ItemKind::kDense, 4}, Kernel::cosine(), 0};
  config.y = config.x;
  const auto model =
      refresh(Learner<float>(config), EstimatorSpec{}, Learner<float>::Extent::kAll).model;
  const Topics topics(10);
  const Explainer<float> explainer(model, whole(topics.stream, std::vector<double>(10, 1)));
  std::vector<double> contributions(10, 1);
  ScoreScratch<float> scratch;
  const auto x = slice(topics.stream.x.view(), 0, 1);
  const auto explanation = explainer.explain(x, x, contributions.data(), scratch);
  CHECK(explanation.fault == Fault::kNone);
  CHECK(explanation.score == 0);
  CHECK(explanation.rest == 0);
  CHECK(contributions == std::vector<double>(10, 0));
}

TEST_CASE("Without a sample, or with one that weighs nothing, there is the score alone") {
  const Topics topics(100);
  const auto model = topics.explainer(EstimatorKind::kGaussianPmi).model();
  const auto x = slice(topics.stream.x.view(), 0, 1);
  ScoreScratch<float> scratch;
  const Explainer<float> none(model, whole(part(topics.stream, 0, 0), {}));
  CHECK(none.size() == 0);
  CHECK(none.explain(x, x, nullptr, scratch).score > 0);
  const Explainer<float> weightless(model, whole(part(topics.stream, 0, 3), {0, 0, 0}));
  std::vector<double> contributions(3, 1);
  CHECK(weightless.explain(x, x, contributions.data(), scratch).score > 0);
  CHECK(contributions == std::vector<double>(3, 0));
}

TEST_CASE("A sample that does not fit is refused") {
  const Topics topics(100);
  const auto model = topics.explainer(EstimatorKind::kPhsic).model();
  const auto pairs = part(topics.stream, 0, 3);
  CHECK_THROWS_WITH(Explainer<float>(model, whole(pairs, {1, 1})),
                    Catch::Contains("found 3 x, 3 y and 2 weights"));
  CHECK_THROWS_WITH(Explainer<float>(model, whole(pairs, {1, -1, 1})),
                    Catch::Contains("found the weight -1"));
  auto foreign = whole(pairs, {1, 1, 1});
  foreign.y = ItemBlock<float>({ItemKind::kDense, 2});
  const float row[] = {1, 2};
  for (int i = 0; i < 3; ++i) {
    REQUIRE(foreign.y.append(DenseRows<float>{row, 1, 2}, 0) == Fault::kNone);
  }
  CHECK_THROWS_WITH(Explainer<float>(model, foreign),
                    Catch::Contains("found dense vectors of dimension 2 as y"));
}

TEST_CASE("A model read back explains the same") {
  const Topics topics(300);
  for (const auto kind : {EstimatorKind::kPhsic, EstimatorKind::kGaussianPmi}) {
    const auto explainer = topics.explainer(kind);
    const auto again =
        std::make_shared<const Model<float>>(parse<Model<float>>(serialise(*explainer.model())));
    const Explainer<float> restored(again, whole(topics.stream, std::vector<double>(300, 1)));
    Explanation ours;
    Explanation theirs;
    CHECK(contributions_to(explainer, topics.stream, 7, ours) ==
          contributions_to(restored, topics.stream, 7, theirs));
    CHECK(ours.rest == theirs.rest);
  }
}

}  // namespace
}  // namespace phsic::test
