// Carrying what was learned over to new pivots, without the pairs.
//
// A pair's features under the old pivots, a_old(x) = L_old^-1 k_old(x), are taken to the new ones
// by T = L_new^-1 K_new,old L_old^-T. |T| <= 1, and |a_new(x) - T a_old(x)| <=
// sqrt(residual_old(x)), so that a pair's share of the error in M_xx is at most 2 sqrt(k(x,x)
// residual_old(x)). A sample of the learned pairs, which are known in both features, then serves as
// control variate: (sample in new features) - T (sample in old features), weighed to stand for the
// whole stream, is added to the sums. While the sample still holds every pair, the result is exact.
// From then on it carries the sample's noise, so it counts as no more effective pairs than the
// sample has.
#pragma once

#include <Eigen/Core>

#include "core/features.h"
#include "core/moments.h"
#include "core/reservoir.h"
#include "core/workspace.h"

namespace phsic {

// T from the features of `from` to those of `to`; the identity where they are the same or explicit.
// REQUIRES: the same kernel.
template <class T>
[[nodiscard]] Eigen::MatrixXd carry_matrix(const FeatureMap<T>& from, const FeatureMap<T>& to);

// Both sides' features at one time.
template <class T>
struct FeaturePair {
  const FeatureMap<T>& x;
  const FeatureMap<T>& y;
};

// Takes `moments` from the features `from` to the features `to`, corrected by the sample, the joint
// covariance kept positive semidefinite (unless cross only). An empty sample corrects nothing.
// REQUIRES: on each side the same kernel in both.
template <class T>
void carry_over(Moments& moments, FeaturePair<T> from, FeaturePair<T> to,
                const typename Reservoir<T>::Sample& sample, Workspace& workspace);

// Instead of carry_over(), when the kernel itself has changed and nothing can be carried. Gives
// `moments` the means and covariances of the sample alone, in the features `to`; its weights and
// pairs stay.
template <class T>
void rebuild(Moments& moments, FeaturePair<T> to, const typename Reservoir<T>::Sample& sample,
             Workspace& workspace);

// Sets the negative eigenvalues of [C_xx C_xy; C_yx C_yy] to zero. REQUIRES: both sides.
void make_positive(Covariance& covariance);

}  // namespace phsic
