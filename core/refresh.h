// Refreshing: from what a stream has learned to a model that scores.
//
// A pure function of the learner's state: safe to run in the background on a copy, and a replay
// gives the same model.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>

#include "core/learner.h"
#include "core/model.h"

namespace phsic {

struct EstimatorSpec {
  // None: `auto`, whichever does best on held-back pairs.
  std::optional<EstimatorKind> kind = EstimatorKind::kPhsic;
  // None: the value of kRidgeGrid that does best on held-back pairs, kDefaultRidge while they are
  // too few to tell. Only whitened and gaussian-pmi have a ridge.
  std::optional<double> ridge;
  // Directions kept by whitened and gaussian-pmi; by phsic too, if phsic_at_rank. 0: all.
  std::size_t rank = 256;
  bool phsic_at_rank = false;
  bool centered = true;  // phsic only

  void validate() const;
};

inline constexpr double kRidgeGrid[] = {0.01, 0.03, 0.1, 0.3, 1, 3};
inline constexpr double kDefaultRidge = 0.1;

template <class T>
struct Refreshed {
  std::shared_ptr<const Model<T>> model;
  // Pivots chosen for it: the live learner should adopt() them, at once or later.
  std::optional<PivotChange<T>> pivots;
};

// Builds the model of a frozen state (a copy, which is consumed). With Extent::kAll the held-back
// pairs, after they have served to choose and to calibrate, are learned too.
// Throws if the specification asks for what the stream does not keep.
template <class T>
[[nodiscard]] Refreshed<T> refresh(Learner<T> state, const EstimatorSpec& spec,
                                   typename Learner<T>::Extent extent);

}  // namespace phsic
