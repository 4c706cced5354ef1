// Every kind of bad pair: refused with its fault, and nothing else changes.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "core/refresh.h"
#include "tests/core/scene.h"

namespace phsic::test {
namespace {

template <class T>
struct BadPair {
  std::string name;
  std::vector<T> x;
  std::vector<T> y;
  double weight = 1;
  double time = 0;
  Fault fault = Fault::kNone;
};

template <class T>
std::vector<BadPair<T>> bad_pairs() {
  using Limits = std::numeric_limits<T>;
  const std::vector<T> good = {1, 2, 3};
  const std::vector<T> nan = {1, Limits::quiet_NaN(), 3};
  const std::vector<T> infinite = {1, 2, Limits::infinity()};
  const std::vector<T> huge = {T(2e9), 2, 3};
  const std::vector<T> short_one = {1, 2};
  return {{"NaN in x", nan, good, 1, 0, Fault::kNotFinite},
          {"NaN in y", good, nan, 1, 0, Fault::kNotFinite},
          {"infinity in x", infinite, good, 1, 0, Fault::kNotFinite},
          {"infinity in y", good, infinite, 1, 0, Fault::kNotFinite},
          {"huge x", huge, good, 1, 0, Fault::kTooLarge},
          {"huge y", good, huge, 1, 0, Fault::kTooLarge},
          {"short x", short_one, good, 1, 0, Fault::kWrongShape},
          {"short y", good, short_one, 1, 0, Fault::kWrongShape},
          {"negative weight", good, good, -1, 0, Fault::kBadWeight},
          {"NaN weight", good, good, std::nan(""), 0, Fault::kBadWeight},
          {"infinite weight", good, good, INFINITY, 0, Fault::kBadWeight},
          {"huge weight", good, good, 1e7, 0, Fault::kBadWeight},
          {"NaN time", good, good, 1, std::nan(""), Fault::kBadTime},
          {"infinite time", good, good, 1, INFINITY, Fault::kBadTime}};
}

StreamConfig config_for(const char* kernel) {
  StreamConfig config;
  config.x = {{ItemKind::kDense, 3}, Kernel::parse(kernel), 0};
  config.y = config.x;
  config.reservoir = 64;
  return config;
}

TEMPLATE_TEST_CASE("A bad pair is refused and nothing is poisoned", "", float, double) {
  for (const char* kernel : {"linear", "cosine", "gaussian", "polynomial:degree=4"}) {
    const auto stream = make_stream<TestType>({.dim_x = 3, .dim_y = 3, .pairs = 400}, 3);
    Learner<TestType> clean(config_for(kernel));
    Learner<TestType> attacked(config_for(kernel));
    const auto attack = [&] {
      for (const auto& bad : bad_pairs<TestType>()) {
        CAPTURE(kernel, bad.name);
        Fault fault = Fault::kNone;
        CHECK(attacked.learn(DenseRows<TestType>{bad.x.data(), 1, bad.x.size()},
                             DenseRows<TestType>{bad.y.data(), 1, bad.y.size()}, &bad.weight,
                             &bad.time, &fault) == 0);
        CHECK(fault == bad.fault);
      }
    };
    attack();
    for (std::size_t i = 0; i < stream.size(); ++i) {
      const auto x = slice(stream.x.view(), i, 1);
      const auto y = slice(stream.y.view(), i, 1);
      REQUIRE(clean.learn(x, y, nullptr, nullptr, nullptr) == 1);
      REQUIRE(attacked.learn(x, y, nullptr, nullptr, nullptr) == 1);
      if (i == 200) attack();
    }
    CHECK(attacked.refused() == 2 * bad_pairs<TestType>().size());
    const auto extent = Learner<TestType>::Extent::kAll;
    CHECK(serialise(*refresh(attacked, {}, extent).model) ==
          serialise(*refresh(clean, {}, extent).model));
  }
}

TEST_CASE("A polynomial that would overflow refuses the pair") {
  Learner<float> learner(config_for("polynomial:degree=8"));
  const std::vector<float> large = {1e4F, 0, 0};
  const DenseRows<float> row{large.data(), 1, 3};
  Fault fault = Fault::kNone;
  CHECK(learner.learn(row, row, nullptr, nullptr, &fault) == 0);
  CHECK(fault == Fault::kTooLarge);
}

TEST_CASE("Vectors too short for a length are zero under cosine") {
  Learner<float> learner(config_for("cosine"));
  const std::vector<float> tiny = {1e-40F, 0, 0};
  const DenseRows<float> row{tiny.data(), 1, 3};
  REQUIRE(learner.learn(row, row, nullptr, nullptr, nullptr) == 1);
  const auto stream = make_stream<float>({.dim_x = 3, .dim_y = 3, .pairs = 400}, 3);
  learner.learn(stream.x.view(), stream.y.view(), nullptr, nullptr, nullptr);
  const auto model = refresh(learner, {}, Learner<float>::Extent::kAll).model;
  double score = 0;
  ScoreScratch<float> scratch;
  CHECK(model->score(row, row, &score, nullptr, scratch) == 1);
  CHECK(std::isfinite(score));
}

TEST_CASE("Kernels at the edge of floats stay finite") {
  for (const char* kernel : {"gaussian:sigma=1e-15", "gaussian:sigma=median",
                             "gaussian:sigma=scott", "polynomial:degree=8,offset=0"}) {
    CAPTURE(kernel);
    auto stream = make_stream<float>({.dim_x = 3, .dim_y = 3, .pairs = 300}, 3);
    const auto rows = std::get<DenseRows<float>>(stream.x.view());
    std::vector<float> tiny(rows.data, rows.data + 900);
    for (float& value : tiny) value *= 1e-21F;
    Learner<float> learner(config_for(kernel));
    const DenseRows<float> x{tiny.data(), 300, 3};
    CHECK(learner.learn(x, x, nullptr, nullptr, nullptr) == 300);
    const auto model = refresh(learner, {}, Learner<float>::Extent::kAll).model;
    std::vector<double> scores(300);
    ScoreScratch<float> scratch;
    CHECK(model->score(x, x, scores.data(), nullptr, scratch) == 300);
    CHECK(std::all_of(scores.begin(), scores.end(), [](double s) { return std::isfinite(s); }));
  }
  CHECK_THROWS_WITH(Kernel::gaussian(1e-20), Catch::Contains("found 1e-20, expected 1e-15 to"));
}

TEST_CASE("A side of empty texts has no features and scores 0") {
  StreamConfig config = config_for("cosine");
  config.x = {{ItemKind::kText, 0}, Kernel::spectrum(3), 4};
  config.y = config.x;
  Learner<double> learner(config);
  const auto nothing = block_of_texts(std::vector<std::string>(300, ""));
  const auto something = make_stream<double>({.kind = ItemKind::kText, .pairs = 300}, 1).y;
  learner.learn(nothing.view(), something.view(), nullptr, nullptr, nullptr);
  const auto model = refresh(learner, {}, Learner<double>::Extent::kAll).model;
  double score = 7;
  ScoreScratch<double> scratch;
  for (int i = 0; i < 2; ++i) {
    model->score(slice(nothing.view(), 0, 1), slice(something.view(), 0, 1), &score, nullptr,
                 scratch);
    CHECK(score == 0);
  }
}

TEST_CASE("A score that overflows is refused as too large") {
  Learner<float> learner(config_for("polynomial:degree=8"));
  const auto stream = make_stream<float>({.dim_x = 3, .dim_y = 3, .pairs = 300}, 3);
  learner.learn(stream.x.view(), stream.y.view(), nullptr, nullptr, nullptr);
  const auto model = refresh(learner, {}, Learner<float>::Extent::kAll).model;
  const std::vector<float> large = {1e6F, 1e6F, 0};
  const DenseRows<float> row{large.data(), 1, 3};
  double score = 0;
  Fault fault = Fault::kNone;
  ScoreScratch<float> scratch;
  CHECK(model->score(row, row, &score, &fault, scratch) == 0);
  CHECK(fault == Fault::kTooLarge);
  CHECK(std::isnan(score));
}

TEST_CASE("Sparse and text items are checked too") {
  StreamConfig config = config_for("cosine");
  config.x.items.kind = config.y.items.kind = ItemKind::kSparse;
  Learner<float> sparse(config);
  const std::size_t start[] = {0, 2};
  const float values[] = {1, 2};
  const auto fault_of = [&](std::vector<std::uint32_t> index) {
    const SparseRows<float> row{start, index.data(), values, 1, 3};
    Fault fault = Fault::kNone;
    sparse.learn(row, row, nullptr, nullptr, &fault);
    return fault;
  };
  CHECK(fault_of({0, 2}) == Fault::kNone);
  CHECK(fault_of({0, 3}) == Fault::kBadIndex);
  CHECK(fault_of({2, 0}) == Fault::kBadIndex);
  CHECK(fault_of({1, 1}) == Fault::kBadIndex);

  config.x = {{ItemKind::kText, 0}, Kernel::spectrum(3), 4};
  config.y = config.x;
  Learner<float> texts(config);
  const std::string broken = "caf\xc3";
  const std::size_t ends[] = {0, broken.size()};
  const TextRows row{ends, broken.data(), 1};
  Fault fault = Fault::kNone;
  texts.learn(row, row, nullptr, nullptr, &fault);
  CHECK(fault == Fault::kBadText);
  CHECK(texts.accepted() == 0);
}

TEST_CASE("Bad rows of a scored batch get NaN, the others their scores") {
  const auto stream = make_stream<float>({.dim_x = 3, .dim_y = 3, .pairs = 300}, 4);
  for (const char* kernel : {"linear", "cosine", "gaussian", "laplacian:gamma=0.1"}) {
    CAPTURE(kernel);
    Learner<float> learner(config_for(kernel));
    learner.learn(stream.x.view(), stream.y.view(), nullptr, nullptr, nullptr);
    const auto model = refresh(learner, {}, Learner<float>::Extent::kAll).model;
    const auto rows = std::get<DenseRows<float>>(stream.x.view());
    std::vector<float> x(rows.data, rows.data + rows.rows * 3);
    std::vector<double> clean(300);
    std::vector<double> scores(300);
    std::vector<Fault> faults(300);
    ScoreScratch<float> scratch;
    model->score(stream.x.view(), stream.y.view(), clean.data(), nullptr, scratch);
    x[3 * 5 + 1] = std::numeric_limits<float>::quiet_NaN();
    x[3 * 260] = -std::numeric_limits<float>::infinity();
    CHECK(model->score(DenseRows<float>{x.data(), 300, 3}, stream.y.view(), scores.data(),
                       faults.data(), scratch) == 298);
    for (std::size_t i = 0; i < 300; ++i) {
      CAPTURE(i);
      const bool bad = i == 5 || i == 260;
      CHECK(faults[i] == (bad ? Fault::kNotFinite : Fault::kNone));
      CHECK(std::isnan(scores[i]) == bad);
      if (!bad) CHECK(scores[i] == Approx(clean[i]).margin(1e-4));
    }
    // Wrong shapes and unequal numbers are refused as a whole.
    CHECK(model->score(DenseRows<float>{x.data(), 450, 2}, stream.y.view(), scores.data(),
                       faults.data(), scratch) == 0);
    CHECK(faults[0] == Fault::kWrongShape);
    CHECK(model->score(slice(stream.x.view(), 0, 7), stream.y.view(), scores.data(), faults.data(),
                       scratch) == 0);
    CHECK(model->score_one_to_many(slice(stream.x.view(), 0, 2), stream.y.view(), scores.data(),
                                   faults.data(), scratch) == 0);
  }
}

TEST_CASE("A model of nothing scores everything 0") {
  for (const char* kernel : {"linear", "gaussian"}) {
    const Learner<float> learner(config_for(kernel));
    EstimatorSpec spec;
    spec.kind = std::nullopt;
    const auto model = refresh(learner, spec, Learner<float>::Extent::kAll).model;
    const auto stream = make_stream<float>({.dim_x = 3, .dim_y = 3, .pairs = 10}, 5);
    std::vector<double> scores(10, 7);
    ScoreScratch<float> scratch;
    CHECK(model->score(stream.x.view(), stream.y.view(), scores.data(), nullptr, scratch) == 10);
    CHECK(scores == std::vector<double>(10, 0));
    CHECK(model->facts().pairs == 0);
    CHECK_FALSE(model->facts().accuracy);
    CHECK_FALSE(model->calibration().p_value(1));
    CHECK(serialise(parse<Model<float>>(serialise(*model))) == serialise(*model));
  }
}

TEST_CASE("One pair, and pairs all alike, score 0") {
  const auto stream = make_stream<double>({.dim_x = 3, .dim_y = 3, .pairs = 1}, 6);
  for (const char* kernel : {"linear", "cosine", "gaussian"}) {
    for (const int copies : {1, 300}) {
      Learner<double> learner(config_for(kernel));
      for (int i = 0; i < copies; ++i) {
        learner.learn(stream.x.view(), stream.y.view(), nullptr, nullptr, nullptr);
      }
      for (const auto kind :
           {EstimatorKind::kPhsic, EstimatorKind::kWhitened, EstimatorKind::kGaussianPmi}) {
        EstimatorSpec spec;
        spec.kind = kind;
        const auto model = refresh(learner, spec, Learner<double>::Extent::kAll).model;
        double score = 1;
        ScoreScratch<double> scratch;
        model->score(stream.x.view(), stream.y.view(), &score, nullptr, scratch);
        CHECK(score == Approx(0).margin(1e-12));
      }
    }
  }
}

// Has learned pairs of twice the same number: by turns 1 above and 1 below the centre, and then the
// centre alone until what varied has faded to 2^-300.
Learner<float> faded_learner(float centre) {
  StreamConfig config;
  config.x = {{ItemKind::kDense, 1}, Kernel::linear(), 0};
  config.y = config.x;
  config.forgetting = {Forgetting::Mode::kHalfLifePairs, 10};
  Learner<float> learner(config);
  std::vector<float> values(256 + 3000, centre);
  for (std::size_t i = 0; i < 256; ++i) values[i] += i % 2 == 0 ? 1 : -1;
  const DenseRows<float> rows{values.data(), values.size(), 1};
  learner.learn(rows, rows, nullptr, nullptr, nullptr);
  return learner;
}

TEST_CASE("Pairs that are all alike since what varied has faded score 0") {
  const float centre = GENERATE(0.0F, 5.0F);
  const auto kind = GENERATE(EstimatorKind::kWhitened, EstimatorKind::kGaussianPmi);
  const auto extent = GENERATE(PairExtent::kWithoutHeldBack, PairExtent::kAll);
  EstimatorSpec spec;
  spec.kind = kind;
  const auto model = refresh(faded_learner(centre), spec, extent).model;
  const std::vector<float> values = {centre, centre + 1};
  const DenseRows<float> rows{values.data(), values.size(), 1};
  std::vector<double> scores(values.size(), 7);
  ScoreScratch<float> scratch;
  model->score(rows, rows, scores.data(), nullptr, scratch);
  CHECK(scores == std::vector<double>(values.size(), 0));
}

TEST_CASE("A configuration that makes no sense is refused with what was found and expected") {
  const auto refused = [](const std::function<void(StreamConfig&)>& change, const char* message) {
    StreamConfig config = config_for("cosine");
    change(config);
    CHECK_THROWS_WITH(Learner<float>(config), Catch::Contains(message));
  };
  refused([](auto& c) { c.x.items.dim = 0; }, "x dimension: found 0, expected 1 to");
  refused([](auto& c) { c.y.items.dim = 1U << 20; }, "y dimension: found 1048576");
  refused([](auto& c) { c.x.kernel = Kernel::spectrum(2); }, "expected texts");
  refused([](auto& c) { c.x.pivots = 1U << 20; }, "x pivots: found 1048576");
  refused([](auto& c) { c.reservoir = 3; }, "reservoir: found 3, expected 16 to");
  refused([](auto& c) { c.residual_threshold = -1; }, "residual threshold: found -1");
  refused(
      [](auto& c) {
        c.forgetting = {Forgetting::Mode::kHalfLifePairs, 0, 1};
      },
      "forgetting span: found 0");
  refused(
      [](auto& c) {
        c.forgetting = {Forgetting::Mode::kWindowPairs, 100, 0};
      },
      "window buckets: found 0");
}

}  // namespace
}  // namespace phsic::test
