// The Gaussian kernel by 100 pivots on dense 300: learning against the products it cannot avoid.
#include "bench/bare.h"
#include "bench/measures.h"
#include "bench/oracle.h"
#include "bench/race.h"
#include "bench/setup.h"

namespace phsic::bench {

void learn_gaussian(Report& report) {
  constexpr std::size_t kDim = 300;
  constexpr std::size_t kPivots = 100;
  constexpr std::size_t kPairs = 4096;
  constexpr std::size_t kChecked = 16;
  report.note("learn, dense 300, Gaussian kernel, 100 pivots; ratio to the bare products");
  const DensePairs pairs = make_dense_pairs(1024, kDim, 16, 4);
  const Kernel kernel = Kernel::gaussian(Kernel::Bandwidth::kMedian);
  Learner<float> learner(stream(side(ItemKind::kDense, kDim, kernel, kPivots)));
  warm_up(learner, pairs);

  BareGemm kernel_x(kBlockPairs, kPivots, kDim);
  BareGemm kernel_y(kBlockPairs, kPivots, kDim);
  BareGemm features_x(kBlockPairs, kPivots, kPivots);
  BareGemm features_y(kBlockPairs, kPivots, kPivots);
  BareGemm cross(kPivots, kPivots, kBlockPairs, Transposed::kYes);
  BareSyrk self_x(kPivots, kBlockPairs);
  BareSyrk self_y(kPivots, kBlockPairs);
  const auto bare = [&] {
    for (std::size_t first = 0; first < kPairs; first += kBlockPairs) {
      kernel_x();
      kernel_y();
      features_x();
      features_y();
      cross();
      self_x();
      self_y();
    }
  };
  const Times times = race(
      kRuns, [&] { learn_all(learner, pairs, kPairs / pairs.rows); }, bare);

  const auto model = model_of(learner, EstimatorSpec{});
  std::vector<double> scores(kChecked);
  ScoreScratch<float> scratch;
  model->score(pairs.items_x(0, kChecked), pairs.items_y(0, kChecked), scores.data(), nullptr,
               scratch);
  check_scores("Gaussian by pivots", scores,
               phsic_by_definition(by_pivots(as_rows(pairs.x, kDim), *model->map_x()),
                                   by_pivots(as_rows(pairs.y, kDim), *model->map_y()), kChecked),
               1e-3);
  report.add("learn dense 300, Gaussian, 100 pivots", times.ratio(), "ratio", at_least(0.6));
}

}  // namespace phsic::bench
