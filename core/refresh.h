// Refreshing: from what a stream has learned to a model that scores.
//
// A pure function of the learner's state: safe to run in the background on a copy, and a replay
// gives the same model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "core/choice.h"
#include "core/learner.h"
#include "core/model.h"

namespace phsic {

template <class T>
struct Refreshed {
  std::shared_ptr<const Model<T>> model;
  // Pivots chosen for it: the live learner should adopt() them, at once or later.
  std::optional<PivotChange<T>> pivots;
  // The estimator that the held-back pairs have measured, and have not taught; none: the model's.
  std::optional<Estimator<T>> measured;
  // The features of both estimators; null when nothing was learned.
  std::shared_ptr<const FeatureMap<T>> map_x;
  std::shared_ptr<const FeatureMap<T>> map_y;
};

// Fewer held-back pairs than this choose nothing, and what they measure is noise. At most a fifth
// of a stream is held back, so a model of fewer than kFewestMeasured pairs is built only on
// request.
inline constexpr std::size_t kFewestHeldBack = 32;
inline constexpr std::uint64_t kFewestMeasured = 5 * kFewestHeldBack;

// Builds the model of a frozen state (a copy, which is consumed). With Extent::kAll the held-back
// pairs first serve to choose and to calibrate, and are then learned, too. Throws if the
// specification asks for what the stream does not keep.
template <class T>
[[nodiscard]] Refreshed<T> refresh(Learner<T> state, const EstimatorSpec& spec,
                                   typename Learner<T>::Extent extent);

}  // namespace phsic
