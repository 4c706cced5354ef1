// Sparse rows against the same rows spread out: what the sparse route is worth.
#include "bench/measures.h"
#include "bench/oracle.h"
#include "bench/race.h"
#include "bench/setup.h"

namespace phsic::bench {

void learn_and_score_sparse(Report& report) {
  constexpr std::size_t kDim = 1024;
  constexpr std::size_t kEntries = 60;
  constexpr std::size_t kPairs = 1024;
  constexpr std::size_t kChecked = 16;
  report.note("sparse 1024, 60 entries a row, cosine; ratio to the same rows as dense ones");
  const SparsePairs sparse = make_sparse_pairs(kPairs, kDim, kEntries, 5);
  const DensePairs dense = sparse.densified();
  Learner<float> sparse_learner(stream(side(ItemKind::kSparse, kDim, Kernel::cosine())));
  Learner<float> dense_learner(stream(side(ItemKind::kDense, kDim, Kernel::cosine())));
  const Times learn = race(
      kRuns,
      [&] { sparse_learner.learn(sparse.items_x(), sparse.items_y(), nullptr, nullptr, nullptr); },
      [&] { learn_all(dense_learner, dense); });
  check_covariance("learn sparse",
                   sparse_learner.moments(Learner<float>::Extent::kAll).covariance(),
                   to_unit(as_rows(dense.x, kDim)), to_unit(as_rows(dense.y, kDim)));
  report.add("learn sparse 1024, 60 non-zeros, all three moments", learn.ratio(), "ratio",
             at_least(1));

  EstimatorSpec spec;
  spec.kind = EstimatorKind::kGaussianPmi;
  spec.ridge = kDefaultRidge;
  spec.rank = 256;
  const auto sparse_model = model_of(sparse_learner, spec);
  const auto dense_model = model_of(dense_learner, spec);
  std::vector<double> scores(kPairs);
  std::vector<double> dense_scores(kPairs);
  ScoreScratch<float> scratch;
  const Times score = race(
      kRuns,
      [&] {
        sparse_model->score(sparse.items_x(), sparse.items_y(), scores.data(), nullptr, scratch);
      },
      [&] {
        dense_model->score(dense.items_x(0, kPairs), dense.items_y(0, kPairs), dense_scores.data(),
                           nullptr, scratch);
      });
  const Covariance covariance = sparse_learner.moments(Learner<float>::Extent::kAll).covariance();
  const CanonicalBasis basis =
      canonical_basis(covariance, kDefaultRidge, spec.rank, sparse_learner.config().seed);
  check_scores("score sparse", scores,
               pmi_by_definition(covariance, basis, to_unit(as_rows(dense.x, kDim)),
                                 to_unit(as_rows(dense.y, kDim)), kChecked),
               1e-4);
  report.add("score sparse 1024, 60 non-zeros, gaussian-pmi of rank 256", score.ratio(), "ratio",
             at_least(1));
}

}  // namespace phsic::bench
