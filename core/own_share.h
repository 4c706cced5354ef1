// A learned pair's score as the model would give it that had learned all other pairs only.
//
// A model that has learned a pair has the pair itself as a witness: its score is too high, the more
// so the fewer pairs there are and the farther the pair is from the others. Taking the pair out is
// a change of rank one. With the share s = w / W of all weight, t = s / (1 - s) and d the pair's
// features less their mean, the others' mean and covariance are
//
//   m' = m - t d,   so that   d' = d / (1 - s),   and   C' = (C - t d d^T) / (1 - s)
//
// so the score that they give follows from the score itself and from the squared lengths X and Y of
// the pair's two sides, in the coordinates of the estimator (estimator.h):
//
//   phsic         (score - t X Y) / (1 - s)^3;   uncentred (score - s X Y) / (1 - s)
//   whitened      (score - t X Y) / ((1 - s) (1 - t X) (1 - t Y))
//   gaussian-pmi  c - 1/2 log((1 - t Q) / ((1 - t X) (1 - t Y)))
//                 - 1/2 (Q / (1 - t Q) - X / (1 - t X) - Y / (1 - t Y)) / (1 - s)
//                 where Q = 2 (c - score) + X + Y is the pair's squared length in both together
//
// This is exact for exact phsic, and for the others where the coordinates span the features of both
// sides, no correlation was cut to kMaxCorrelation and the ridge stays what it is (it is a multiple
// of the variance, in which the pair has a part, too). At a lower rank the directions stay the
// same, although the pair had its part in choosing them.
//
// Pure functions; any thread may call.
#pragma once

#include "core/estimator_spec.h"

namespace phsic {

// The leverages t X, t Y and t Q of a pair that was learned are below 1. Those of a pair that was
// learned otherwise than it is scored (shortened, or with a larger share) need not be: they count
// as this at most, which keeps the score finite.
inline constexpr double kMaxLeverage = 0.99;
// A share counts as this at most.
inline constexpr double kMaxOwnShare = 0.5;

struct OwnPart {
  double share = 0;      // s, not negative
  double squared_x = 0;  // X
  double squared_y = 0;  // Y
};

// REQUIRES: `score` of an estimator of this kind, which has this c; phsic alone may be uncentred.
[[nodiscard]] double without_own_part(EstimatorKind kind, bool is_centered, double c, double score,
                                      const OwnPart& own);

}  // namespace phsic
