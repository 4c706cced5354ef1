// Explicit features of dimension 300: learning and scoring against the matrix products alone.
#include <Eigen/SVD>

#include "bench/bare.h"
#include "bench/measures.h"
#include "bench/oracle.h"
#include "bench/race.h"
#include "bench/setup.h"

namespace phsic::bench {
namespace {

constexpr std::size_t kDim = 300;
constexpr std::size_t kLatent = 64;
constexpr std::size_t kLearned = 2048;  // in a run
constexpr std::size_t kPairs = 4096;    // scored in a run
constexpr std::size_t kChecked = 16;

double learn_ratio(Moments::Parts parts, const DensePairs& pairs, const char* name) {
  Learner<float> learner(stream(side(ItemKind::kDense, kDim, Kernel::linear()), parts));
  BareGemm gemm(kDim, kDim, kBlockPairs, Transposed::kYes);
  BareSyrk syrk_x(kDim, kBlockPairs);
  BareSyrk syrk_y(kDim, kBlockPairs);
  const auto bare = [&] {
    for (std::size_t first = 0; first < kLearned; first += kBlockPairs) {
      gemm();
      if (parts == Moments::Parts::kCrossOnly) continue;
      syrk_x();
      syrk_y();
    }
  };
  warm_up(learner, pairs);
  const Times times = race(
      kRuns, [&] { learn_all(learner, pairs, kLearned / pairs.rows); }, bare);
  check_covariance(name, learner.moments(Learner<float>::Extent::kAll).covariance(),
                   as_rows(pairs.x, kDim), as_rows(pairs.y, kDim));
  return times.ratio();
}

Learner<float> learned(const DensePairs& pairs) {
  Learner<float> learner(stream(side(ItemKind::kDense, kDim, Kernel::linear())));
  learn_all(learner, pairs);
  return learner;
}

// The scores by the top `rank` singular triplets of C_xy, decomposed exactly.
std::vector<double> phsic_at_rank(const Rows& x, const Rows& y, Eigen::Index rank) {
  const Rows centred_x = x.rowwise() - x.colwise().mean();
  const Rows centred_y = y.rowwise() - y.colwise().mean();
  const Eigen::MatrixXd c = centred_x.transpose() * centred_y / static_cast<double>(x.rows());
  const Eigen::BDCSVD<Eigen::MatrixXd> svd(c, Eigen::ComputeThinU | Eigen::ComputeThinV);
  std::vector<double> scores;
  for (Eigen::Index i = 0; i < static_cast<Eigen::Index>(kChecked); ++i) {
    const Eigen::VectorXd u =
        svd.matrixU().leftCols(rank).transpose() * centred_x.row(i).transpose();
    const Eigen::VectorXd v =
        svd.matrixV().leftCols(rank).transpose() * centred_y.row(i).transpose();
    scores.push_back(u.cwiseProduct(svd.singularValues().head(rank)).dot(v));
  }
  return scores;
}

}  // namespace

void learn_dense(Report& report) {
  report.note("learn, dense 300, linear kernel, batches of 256; ratio to bare SGEMM and SSYRK");
  // Few enough to stay in the cache, as pairs do that were just received.
  const DensePairs pairs = make_dense_pairs(1024, kDim, kLatent, 1);
  const char* const cross = "learn dense 300, cross-covariance only";
  report.add(cross, learn_ratio(Moments::Parts::kCrossOnly, pairs, cross), "ratio", at_least(0.8));
  const char* const all = "learn dense 300, all three moments";
  report.add(all, learn_ratio(Moments::Parts::kAll, pairs, all), "ratio", at_least(0.8));
}

void score_dense(Report& report) {
  report.note("score, dense 300, linear kernel, exact phsic; ratio to bare SGEMM and SGEMV");
  const DensePairs pairs = make_dense_pairs(kPairs, kDim, kLatent, 2);
  const auto model = model_of(learned(pairs), EstimatorSpec{});
  const std::vector<double> expected =
      phsic_by_definition(as_rows(pairs.x, kDim), as_rows(pairs.y, kDim), kChecked);
  std::vector<double> scores(kPairs);
  ScoreScratch<float> scratch;

  BareGemm whole(kPairs, kDim, kDim);
  BareGemm chunk(kBlockPairs, kDim, kDim);
  const auto chunks = [&] {
    for (std::size_t first = 0; first < kPairs; first += kBlockPairs) chunk();
  };
  const auto score_batch = [&] {
    model->score(pairs.items_x(0, kPairs), pairs.items_y(0, kPairs), scores.data(), nullptr,
                 scratch);
  };
  const Times batch = race(kRuns, score_batch, whole, chunks);
  check_scores("score a batch", scores, expected, 1e-4);
  report.add("score dense 300, batch of 4096, exact phsic", batch.ratio(), "ratio", at_least(0.85));

  constexpr std::size_t kTimes = 1024;
  BareGemv straight(kDim, Transposed::kNo);
  BareGemv transposed(kDim, Transposed::kYes);
  const auto repeat = [](auto& work) {
    return [&work] {
      for (std::size_t i = 0; i < kTimes; ++i) work();
    };
  };
  // One pair over and over, as the bare operation has it: both find their operands in the cache.
  double score = 0;
  const auto score_one = [&] {
    for (std::size_t i = 0; i < kTimes; ++i) {
      model->score(pairs.items_x(0, 1), pairs.items_y(0, 1), &score, nullptr, scratch);
      benchmark::DoNotOptimize(score);
    }
  };
  const Times one = race(kRuns, score_one, repeat(straight), repeat(transposed));
  check_scores("score one pair", {score}, {expected.front()}, 1e-4);
  report.add("score dense 300, one pair, exact phsic", one.ratio(), "ratio", at_least(0.85));
  report.add("a score, dense 300, exact phsic", 1e6 * one.ours / kTimes, "us");
}

void score_at_rank(Report& report) {
  report.note("score, dense 300, linear kernel, rank 128; ratio to two bare SGEMM");
  constexpr std::size_t kRank = 128;
  const DensePairs pairs = make_dense_pairs(kPairs, kDim, kLatent, 3);
  BareGemm gemm_x(kPairs, kRank, kDim);
  BareGemm gemm_y(kPairs, kRank, kDim);
  BareGemm chunk_x(kBlockPairs, kRank, kDim);
  BareGemm chunk_y(kBlockPairs, kRank, kDim);
  const auto whole = [&] {
    gemm_x();
    gemm_y();
  };
  const auto chunks = [&] {
    for (std::size_t first = 0; first < kPairs; first += kBlockPairs) {
      chunk_x();
      chunk_y();
    }
  };
  std::vector<double> scores(kPairs);
  ScoreScratch<float> scratch;
  const auto score_with = [&](const Model<float>& model) {
    return race(
        kRuns,
        [&] {
          model.score(pairs.items_x(0, kPairs), pairs.items_y(0, kPairs), scores.data(), nullptr,
                      scratch);
        },
        whole, chunks);
  };

  EstimatorSpec spec;
  spec.rank = kRank;
  spec.phsic_at_rank = true;
  const Learner<float> learner = learned(pairs);
  const Rows x = as_rows(pairs.x, kDim);
  const Rows y = as_rows(pairs.y, kDim);
  const Times phsic = score_with(*model_of(learner, spec));
  check_scores("score at rank 128", scores, phsic_at_rank(x, y, kRank), 1e-3);
  report.add("score dense 300, batch of 4096, phsic at rank 128", phsic.ratio(), "ratio",
             at_least(0.7));

  spec.kind = EstimatorKind::kGaussianPmi;
  spec.ridge = kDefaultRidge;
  const Times pmi = score_with(*model_of(learner, spec));
  const Covariance covariance = learner.moments(Learner<float>::Extent::kAll).covariance();
  const CanonicalBasis basis =
      canonical_basis(covariance, kDefaultRidge, kRank, learner.config().seed);
  check_scores("score by gaussian-pmi", scores,
               pmi_by_definition(covariance, basis, x, y, kChecked), 1e-4);
  report.add("score dense 300, batch of 4096, gaussian-pmi of rank 128", pmi.ratio(), "ratio");
}

}  // namespace phsic::bench
