// How strongly x and y depend on each other in the whole stream.
#pragma once

#include <cstdint>
#include <optional>

#include "core/dependence_facts.h"
#include "core/features.h"
#include "core/moments.h"
#include "core/reservoir.h"

namespace phsic {

// From the moments alone: the p-value is the gamma approximation of Gretton et al. (2007) with the
// corrections that few pairs need.
[[nodiscard]] Dependence measure_dependence(const Covariance& covariance);

// Whether that p-value is right. It is not when the moments are estimates, nor when the pairs that
// the pivots come from make up much of the variance: a few pairs then decide the HSIC, and its
// distribution is far from a gamma distribution.
template <class T>
[[nodiscard]] bool moments_tell_p_value(const Covariance& covariance, const FeatureMap<T>& x,
                                        const FeatureMap<T>& y);

// How many of `pairs` pairs make up the variance of a side, estimated from the features of some of
// them: all if they are alike, few if some are far longer than most.
template <class T>
[[nodiscard]] double pairs_that_count(const Items<T>& features, const Eigen::VectorXd& mean,
                                      double pairs);
// Below this many the HSIC is not gamma distributed, nor near it.
inline constexpr double kFewestThatCount = 50;

// The p-value of a permutation test, which exchanges the y's of sampled pairs at random. It uses
// the kernels themselves, not their approximation by pivots. Takes at most kTestedPairs of the
// sample, drawn by weight. None for fewer than 6. REQUIRES: fitted kernels.
inline constexpr std::size_t kTestedPairs = 512;
template <class T>
[[nodiscard]] std::optional<double> permutation_p_value(const Kernel& kernel_x,
                                                        const Kernel& kernel_y,
                                                        const typename Reservoir<T>::Sample& sample,
                                                        std::uint64_t seed);

}  // namespace phsic
