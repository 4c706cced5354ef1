// Beside the PHSIC authors' published implementation, whose speed on one core of this class is
// given here as a constant: it is not run.
#include <fmt/format.h>

#include "bench/measures.h"
#include "bench/oracle.h"
#include "bench/race.h"
#include "bench/setup.h"

namespace phsic::bench {
namespace {

constexpr std::size_t kDim = 300;
constexpr std::size_t kPairs = 4096;

struct Published {
  const char* name;
  double learn;  // pairs a second
  double score;  // microseconds
};

void compare(Report& report, const Published& published, const SideConfig& config) {
  const DensePairs pairs = make_dense_pairs(1024, kDim, 16, 8);
  // Like the published implementation, which keeps the cross-covariance only.
  Learner<float> learner(stream(config, Moments::Parts::kCrossOnly));
  warm_up(learner, pairs);
  const auto model = model_of(learner, EstimatorSpec{});
  double score = 0;
  ScoreScratch<float> scratch;
  constexpr std::size_t kTimes = 256;
  const Times times = race(
      kRuns, [&] { learn_all(learner, pairs, kPairs / pairs.rows); },
      [&] {
        for (std::size_t i = 0; i < kTimes; ++i) {
          model->score(pairs.items_x(0, 1), pairs.items_y(0, 1), &score, nullptr, scratch);
          benchmark::DoNotOptimize(score);
        }
      });
  const Rows x = as_rows(pairs.x, kDim);
  const Rows y = as_rows(pairs.y, kDim);
  const bool pivots = config.uses_pivots();
  const std::vector<double> expected =
      phsic_by_definition(pivots ? by_pivots(x, *model->map_x()) : to_unit(x),
                          pivots ? by_pivots(y, *model->map_y()) : to_unit(y), 1);
  check_scores(published.name, {score}, expected, 1e-3);

  const double learn = static_cast<double>(kPairs) / times.ours;
  const double micro = 1e6 * times.bare / kTimes;
  report.add(fmt::format("learn, {}", published.name), learn, "pairs/s");
  report.add(
      fmt::format("learn, {}, over the published {:g} pairs/s", published.name, published.learn),
      learn / published.learn, "factor");
  report.add(fmt::format("score, {}", published.name), micro, "us");
  report.add(fmt::format("score, {}, over the published {:g} us", published.name, published.score),
             published.score / micro, "factor");
}

}  // namespace

void beside_published(Report& report) {
  report.note("beside the published implementation on one core of this class, dense 300");
  // Of the 12 to 24 us that it takes to score under cosine, its best.
  compare(report, {"cosine", 100'000, 12}, side(ItemKind::kDense, kDim, Kernel::cosine()));
  compare(report, {"Gaussian, 100 pivots", 5'000, 4'500},
          side(ItemKind::kDense, kDim, Kernel::gaussian(Kernel::Bandwidth::kMedian), 100));
}

}  // namespace phsic::bench
