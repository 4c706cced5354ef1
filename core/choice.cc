#include "core/choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/measure.h"

namespace phsic {
namespace {

// How many standard errors better another ridge or another kind has to be. The sample is small, and
// a score that changes its scale from refresh to refresh is worth less than one that does not.
constexpr double kClearRidge = 1;
constexpr double kClearKind = 2;

// How many other y's each pair is compared with: more than for a report, since the differences are
// small.
constexpr std::size_t kManyShuffles = 63;

CanonicalBasis basis_for(const Covariance& covariance, const EstimatorSpec& spec, double ridge,
                         std::uint64_t seed) {
  const auto smaller =
      static_cast<std::size_t>(std::min(covariance.xy.rows(), covariance.xy.cols()));
  return canonical_basis(covariance, ridge, spec.rank == 0 ? smaller : spec.rank, seed);
}

template <class T>
Estimator<T> from_basis(const Covariance& covariance, const CanonicalBasis& basis,
                        EstimatorKind kind) {
  return kind == EstimatorKind::kWhitened ? Estimator<T>::whitened(covariance, basis)
                                          : Estimator<T>::gaussian_pmi(covariance, basis);
}

// Tries estimators out on the unseen pairs and remembers the best of each kind.
template <class T>
class Contest {
 public:
  Contest(const Covariance& covariance, const EstimatorSpec& spec, const UnseenPairs<T>& unseen,
          std::uint64_t seed)
      : covariance_(covariance), spec_(spec), unseen_(unseen), seed_(seed) {}

  Choice<T> winner() {
    if (wants(EstimatorKind::kPhsic)) {
      best_.at(place_of(EstimatorKind::kPhsic)) =
          try_out(EstimatorKind::kPhsic, 0,
                  build_estimator<T>(covariance_, spec_, EstimatorKind::kPhsic, 0, seed_));
    }
    if (covariance_.has_both()) climb();
    Entry* best = nullptr;
    for (auto& entry : best_) {
      if (entry && (best == nullptr || is_clearly_better(entry->merits, best->merits, kClearKind)))
        best = &*entry;
    }
    return std::move(best->choice);
  }

 private:
  struct Entry {
    Choice<T> choice;
    std::vector<double> merits;  // one for each pair
  };

  [[nodiscard]] bool wants(EstimatorKind kind) const { return !spec_.kind || *spec_.kind == kind; }

  // In order of preference: what comes later has to be clearly better.
  [[nodiscard]] static std::size_t place_of(EstimatorKind kind) {
    switch (kind) {
      case EstimatorKind::kGaussianPmi: return 0;
      case EstimatorKind::kWhitened: return 1;
      case EstimatorKind::kPhsic: break;
    }
    return 2;
  }

  Entry try_out(EstimatorKind kind, double ridge, Estimator<T> estimator) const {
    const Trial trial = run_trial(estimator, unseen_.x, unseen_.y, seed_, kManyShuffles);
    return {{kind, ridge, std::move(estimator)}, merits_of(trial)};
  }

  // Tries the kinds that share the ridge's decomposition. Each takes the place of the best of its
  // kind if it is clearly better. Returns whether one did.
  bool try_ridge(double ridge) {
    const auto basis = basis_for(covariance_, spec_, ridge, seed_);
    bool improved = false;
    for (const auto kind : {EstimatorKind::kWhitened, EstimatorKind::kGaussianPmi}) {
      if (!wants(kind)) continue;
      auto entry = try_out(kind, ridge, from_basis<T>(covariance_, basis, kind));
      auto& best = best_.at(place_of(kind));
      if (best && !is_clearly_better(entry.merits, best->merits, kClearRidge)) continue;
      best = std::move(entry);
      improved = true;
    }
    return improved;
  }

  void climb() {
    if (spec_.ridge) {
      try_ridge(*spec_.ridge);
      return;
    }
    const auto* const start =
        std::find(std::begin(kRidgeGrid), std::end(kRidgeGrid), kDefaultRidge);
    try_ridge(*start);
    const auto* ridge = start;
    while (ridge != std::begin(kRidgeGrid) && try_ridge(*--ridge)) {
    }
    if (ridge + 1 < start) return;  // smaller ridges did better
    ridge = start;
    while (++ridge != std::end(kRidgeGrid) && try_ridge(*ridge)) {
    }
  }

  const Covariance& covariance_;
  const EstimatorSpec& spec_;
  const UnseenPairs<T>& unseen_;
  std::uint64_t seed_;
  std::array<std::optional<Entry>, 3> best_;  // by place_of
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

bool has_choice(const Covariance& covariance, const EstimatorSpec& spec) {
  if (!covariance.has_both() || spec.kind == EstimatorKind::kPhsic) return false;
  return !spec.kind || !spec.ridge;
}

template <class T>
Estimator<T> build_estimator(const Covariance& covariance, const EstimatorSpec& spec,
                             EstimatorKind kind, double ridge, std::uint64_t seed) {
  if (kind == EstimatorKind::kPhsic) {
    return Estimator<T>::phsic(covariance, spec.phsic_at_rank ? spec.rank : 0, spec.centered, seed);
  }
  return from_basis<T>(covariance, basis_for(covariance, spec, ridge, seed), kind);
}

template <class T>
Choice<T> choose_estimator(const Covariance& covariance, const EstimatorSpec& spec,
                           const UnseenPairs<T>* unseen, std::uint64_t seed) {
  if (unseen != nullptr && has_choice(covariance, spec)) {
    return Contest<T>(covariance, spec, *unseen, seed).winner();
  }
  const auto kind = spec.kind.value_or(covariance.has_both() ? EstimatorKind::kGaussianPmi
                                                             : EstimatorKind::kPhsic);
  const double ridge = kind == EstimatorKind::kPhsic ? 0 : spec.ridge.value_or(kDefaultRidge);
  return {kind, ridge, build_estimator<T>(covariance, spec, kind, ridge, seed)};
}

template Estimator<float> build_estimator(const Covariance&, const EstimatorSpec&, EstimatorKind,
                                          double, std::uint64_t);
template Estimator<double> build_estimator(const Covariance&, const EstimatorSpec&, EstimatorKind,
                                           double, std::uint64_t);
template Choice<float> choose_estimator(const Covariance&, const EstimatorSpec&,
                                        const UnseenPairs<float>*, std::uint64_t);
template Choice<double> choose_estimator(const Covariance&, const EstimatorSpec&,
                                         const UnseenPairs<double>*, std::uint64_t);

}  // namespace phsic
