#include "core/refresh.h"

#include <fmt/format.h>

#include <cmath>
#include <vector>

namespace phsic {
namespace {

// With fewer held-back pairs than this nothing is chosen by them.
constexpr std::size_t kFewestToChoose = 32;

struct Candidate {
  EstimatorKind kind;
  double ridge;  // 0 for phsic
};

std::vector<Candidate> candidates_for(const EstimatorSpec& spec, bool cross_only, bool choose) {
  std::vector<double> ridges(std::begin(kRidgeGrid), std::end(kRidgeGrid));
  if (spec.ridge) ridges = {*spec.ridge};
  if (!spec.ridge && !choose) ridges = {kDefaultRidge};
  std::vector<Candidate> candidates;
  const auto wanted = [&](EstimatorKind kind) {
    if (spec.kind) return *spec.kind == kind;
    if (cross_only) return kind == EstimatorKind::kPhsic;
    return choose || kind == EstimatorKind::kGaussianPmi;
  };
  // Ridges outside, kinds inside: the two kinds that share a basis stand together.
  if (wanted(EstimatorKind::kPhsic)) candidates.push_back({EstimatorKind::kPhsic, 0});
  for (const double ridge : ridges) {
    for (const EstimatorKind kind : {EstimatorKind::kWhitened, EstimatorKind::kGaussianPmi}) {
      if (wanted(kind)) candidates.push_back({kind, ridge});
    }
  }
  return candidates;
}

// Builds estimators from one set of covariances, keeping the last basis: candidates that share a
// ridge share its decomposition.
template <class T>
class Builder {
 public:
  Builder(const Covariance& covariance, const EstimatorSpec& spec, std::uint64_t seed)
      : covariance_(covariance), spec_(spec), seed_(seed) {}

  Estimator<T> build(const Candidate& candidate) {
    if (candidate.kind == EstimatorKind::kPhsic) {
      return Estimator<T>::phsic(covariance_, spec_.phsic_at_rank ? spec_.rank : 0, spec_.centered,
                                 seed_);
    }
    if (basis_ridge_ != candidate.ridge) {
      const auto smaller =
          static_cast<std::size_t>(std::min(covariance_.xy.rows(), covariance_.xy.cols()));
      basis_ = canonical_basis(covariance_, candidate.ridge, spec_.rank == 0 ? smaller : spec_.rank,
                               seed_);
      basis_ridge_ = candidate.ridge;
    }
    return candidate.kind == EstimatorKind::kWhitened
               ? Estimator<T>::whitened(covariance_, basis_)
               : Estimator<T>::gaussian_pmi(covariance_, basis_);
  }

 private:
  const Covariance& covariance_;
  const EstimatorSpec& spec_;
  std::uint64_t seed_;
  CanonicalBasis basis_;
  double basis_ridge_ = -1;
};

// The features of every second held-back pair, from the `first` on: one half chooses, the other
// calibrates.
template <class T>
struct HeldBack {
  HeldBack(const Learner<T>& state, std::size_t first, std::size_t step)
      : items_x(state.config().x.items), items_y(state.config().y.items) {
    const ItemBlock<T> block_x = state.held_back_x();
    const ItemBlock<T> block_y = state.held_back_y();
    const Items<T> all_x = block_x.view();
    const Items<T> all_y = block_y.view();
    for (std::size_t i = first; i < state.held_back(); i += step) {
      const bool kept =
          items_x.append(all_x, i) == Fault::kNone && items_y.append(all_y, i) == Fault::kNone;
      if (!kept) throw Error("held-back pairs: found a faulty one, expected none");
    }
    Workspace workspace;
    state.map_x()->map(items_x.view(), x, workspace);
    state.map_y()->map(items_y.view(), y, workspace);
  }

  [[nodiscard]] Trial trial(const Estimator<T>& estimator, std::uint64_t seed) const {
    return run_trial(estimator, x.features, y.features, seed);
  }

  ItemBlock<T> items_x;
  ItemBlock<T> items_y;
  FeatureBlock<T> x;
  FeatureBlock<T> y;
};

}  // namespace

void EstimatorSpec::validate() const {
  if (ridge && !(std::isfinite(*ridge) && *ridge > 0)) {
    throw Error(fmt::format("ridge: found {}, expected a positive number", *ridge));
  }
  if (rank > kMaxDimension) {
    throw Error(fmt::format("rank: found {}, expected 0 to {}", rank, kMaxDimension));
  }
}

template <class T>
Refreshed<T> refresh(Learner<T> state, const EstimatorSpec& spec,
                     typename Learner<T>::Extent extent) {
  using Extent = typename Learner<T>::Extent;
  spec.validate();
  const StreamConfig& config = state.config();
  const bool cross_only = config.parts == Moments::Parts::kCrossOnly;
  if (cross_only && spec.kind && *spec.kind != EstimatorKind::kPhsic) {
    throw Error(
        fmt::format("estimator {} needs the covariances of both sides, but the stream keeps "
                    "the cross-covariance only",
                    name_of(*spec.kind)));
  }
  Refreshed<T> result;
  result.pivots = state.propose_pivots();
  if (result.pivots) state.adopt(*result.pivots);
  ModelFacts facts;
  facts.pairs = state.accepted();
  facts.epoch = state.epoch();
  if (facts.pairs == 0) {
    result.model = std::make_shared<const Model<T>>(config.x.items, config.y.items, nullptr,
                                                    nullptr, std::nullopt, Calibration(), facts);
    return result;
  }

  Covariance covariance = state.moments(Extent::kWithoutHeldBack).covariance();
  const bool choose = state.held_back() >= kFewestToChoose && covariance.weight > 0;
  const std::vector<Candidate> candidates = candidates_for(spec, cross_only, choose);
  Builder<T> builder(covariance, spec, config.seed);
  Candidate best = candidates.front();
  Estimator<T> estimator = builder.build(best);
  const bool halves = candidates.size() > 1;
  if (halves) {
    const HeldBack<T> half(state, 0, 2);
    double best_auc = -1;
    for (const Candidate& candidate : candidates) {
      Estimator<T> rival = builder.build(candidate);
      const double auc = accuracy_of(half.trial(rival, config.seed))->auc;
      if (auc > best_auc) {
        best_auc = auc;
        best = candidate;
        estimator = std::move(rival);
      }
    }
  }
  facts.ridge = best.ridge;

  Calibration calibration;
  if (state.held_back() > 1) {
    const HeldBack<T> rest(state, halves ? 1 : 0, halves ? 2 : 1);
    Trial trial = rest.trial(estimator, config.seed + 1);
    facts.accuracy = accuracy_of(trial);
    if (!trial.null.empty()) {
      calibration = Calibration(std::move(trial.matched), std::move(trial.null));
    }
  }
  if (extent == Extent::kAll && state.held_back() > 0) {
    covariance = state.moments(Extent::kAll).covariance();
    estimator = Builder<T>(covariance, spec, config.seed).build(best);
  }
  facts.effective_pairs = covariance.effective_pairs;
  facts.dependence = measure_dependence(covariance);
  result.model =
      std::make_shared<const Model<T>>(config.x.items, config.y.items, state.map_x(), state.map_y(),
                                       std::move(estimator), std::move(calibration), facts);
  return result;
}

template Refreshed<float> refresh(Learner<float>, const EstimatorSpec&, Learner<float>::Extent);
template Refreshed<double> refresh(Learner<double>, const EstimatorSpec&, Learner<double>::Extent);

}  // namespace phsic
