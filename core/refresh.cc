#include "core/refresh.h"

#include <fmt/format.h>

#include <optional>

namespace phsic {
namespace {

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

  ItemBlock<T> items_x;
  ItemBlock<T> items_y;
  FeatureBlock<T> x;
  FeatureBlock<T> y;
};

// Is the p-value that the moments give the right one?
template <class T>
bool is_gamma_distributed(const Learner<T>& state, const Covariance& covariance) {
  if (!moments_tell_p_value(covariance, *state.map_x(), *state.map_y())) return false;
  const double pairs = covariance.effective_pairs;
  if (pairs < kFewestThatCount || state.held_back() == 0) return pairs >= kFewestThatCount;
  const HeldBack<T> some(state, 0, 1);
  return pairs_that_count(some.x.features, covariance.mean_x, pairs) >= kFewestThatCount &&
         pairs_that_count(some.y.features, covariance.mean_y, pairs) >= kFewestThatCount;
}

template <class T>
Dependence dependence_of(const Learner<T>& state, const Covariance& covariance,
                         typename Learner<T>::Extent extent) {
  Dependence dependence = measure_dependence(covariance);
  if (dependence.p_value && !is_gamma_distributed(state, covariance)) {
    dependence.p_value =
        permutation_p_value<T>(state.map_x()->kernel(), state.map_y()->kernel(),
                               state.sample_with_recent(extent), ~state.config().seed);
  }
  return dependence;
}

}  // namespace

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
  const bool halves =
      state.held_back() >= kFewestHeldBack && covariance.weight > 0 && has_choice(covariance, spec);
  std::optional<HeldBack<T>> chosen_by;
  UnseenPairs<T> unseen;
  if (halves) {
    chosen_by.emplace(state, 0, 2);
    unseen = {chosen_by->x.features, chosen_by->y.features};
  }
  Choice<T> choice = choose_estimator(covariance, spec, halves ? &unseen : nullptr, config.seed);
  facts.ridge = choice.ridge;

  Calibration calibration;
  if (state.held_back() > 1) {
    const HeldBack<T> rest(state, halves ? 1 : 0, halves ? 2 : 1);
    Trial trial = run_trial(choice.estimator, rest.x.features, rest.y.features, config.seed + 1);
    facts.accuracy = accuracy_of(trial);
    // Who has chosen favours the choice too much to measure it, but may say where pairs stand.
    if (halves) {
      const Trial others = run_trial(choice.estimator, unseen.x, unseen.y, config.seed + 1, 0);
      trial.matched.insert(trial.matched.end(), others.matched.begin(), others.matched.end());
    }
    if (!trial.null.empty()) {
      calibration = Calibration(std::move(trial.matched), std::move(trial.null));
    }
  }
  if (extent == Extent::kAll && state.held_back() > 0) {
    covariance = state.moments(Extent::kAll).covariance();
    result.measured = std::move(choice.estimator);
    choice.estimator = build_estimator<T>(covariance, spec, choice.kind, choice.ridge, config.seed);
  }
  result.map_x = state.map_x();
  result.map_y = state.map_y();
  facts.effective_pairs = covariance.effective_pairs;
  facts.dependence = dependence_of(state, covariance, extent);
  result.model =
      std::make_shared<const Model<T>>(config.x.items, config.y.items, state.map_x(), state.map_y(),
                                       std::move(choice.estimator), std::move(calibration), facts);
  return result;
}

template Refreshed<float> refresh(Learner<float>, const EstimatorSpec&, Learner<float>::Extent);
template Refreshed<double> refresh(Learner<double>, const EstimatorSpec&, Learner<double>::Extent);

}  // namespace phsic
