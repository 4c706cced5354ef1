// What must not grow with the pairs learned: the learner's memory and the time of a score.
#include <optional>

#include "bench/machine.h"
#include "bench/measures.h"
#include "bench/oracle.h"
#include "bench/race.h"
#include "bench/setup.h"

namespace phsic::bench {
namespace {

void learn_times(Learner<float>& learner, const DensePairs& pairs, std::size_t total) {
  while (learner.accepted() < total) learn_all(learner, pairs);
}

}  // namespace

void memory_growth(Report& report) {
  constexpr std::size_t kDim = 32;
  constexpr std::size_t kFew = 100'000;
  constexpr std::size_t kMany = 10'000'000;
  report.note("resident memory: dense 32, Gaussian kernel, 32 pivots, reservoir of 4096");
  const DensePairs pairs = make_dense_pairs(4096, kDim, 8, 6);
  const double before = resident_mib();
  const Kernel kernel = Kernel::gaussian(Kernel::Bandwidth::kMedian);
  Learner<float> learner(stream(side(ItemKind::kDense, kDim, kernel, 32)));
  learn_times(learner, pairs, kFew);
  const double few = resident_mib();
  learn_times(learner, pairs, kMany);
  const double many = resident_mib();
  require_close("weight learned", learner.moments(Learner<float>::Extent::kAll).weight(),
                static_cast<double>(learner.accepted()), 0.5);
  report.add("memory a learner adds, 1e5 pairs", few - before, "MiB");
  report.add("memory a learner adds, 1e7 pairs", many - before, "MiB");
  // Of the process, with room for the allocator to keep a few pages more or less.
  report.add("memory of the process, 1e7 pairs over 1e5", many / few, "ratio", at_most(1.05));
}

void score_growth(Report& report) {
  constexpr std::size_t kDim = 300;
  constexpr std::size_t kTimes = 512;
  report.note("time of a score by pairs learned: dense 300, cosine, exact phsic, one pair");
  const DensePairs pairs = make_dense_pairs(1024, kDim, 64, 7);
  Learner<float> learner(
      stream(side(ItemKind::kDense, kDim, Kernel::cosine()), Moments::Parts::kCrossOnly));
  learn_times(learner, pairs, 1000);
  const auto young = model_of(learner, EstimatorSpec{});
  learn_times(learner, pairs, 1'000'000);
  const auto old = model_of(learner, EstimatorSpec{});
  ScoreScratch<float> scratch;
  double young_score = 0;
  double old_score = 0;
  const auto score_with = [&](const Model<float>& model, double& score) {
    return [&] {
      for (std::size_t i = 0; i < kTimes; ++i) {
        model.score(pairs.items_x(0, 1), pairs.items_y(0, 1), &score, nullptr, scratch);
        benchmark::DoNotOptimize(score);
      }
    };
  };
  const Times times = race(kRuns, score_with(*old, old_score), score_with(*young, young_score));
  const std::vector<double> expected =
      phsic_by_definition(to_unit(as_rows(pairs.x, kDim)), to_unit(as_rows(pairs.y, kDim)), 1);
  check_scores("score after 1e3 pairs", {young_score}, expected, 1e-4);
  check_scores("score after 1e6 pairs", {old_score}, expected, 1e-4);
  report.add("a score after 1e3 pairs", 1e6 * times.bare / kTimes, "us");
  report.add("a score after 1e6 pairs", 1e6 * times.ours / kTimes, "us");
  report.add("time of a score, 1e6 pairs over 1e3", times.ours / times.bare, "ratio",
             at_most(1.05));
}

}  // namespace phsic::bench
