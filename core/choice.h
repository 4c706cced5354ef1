// Which estimator, with which ridge: what was asked for, or what does best on held-back pairs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/estimator.h"
#include "core/items.h"
#include "core/moments.h"

namespace phsic {

// Ascending.
inline constexpr double kRidgeGrid[] = {0.01, 0.03, 0.1, 0.3, 1, 3};
inline constexpr double kDefaultRidge = 1;

template <class T>
struct Choice {
  EstimatorKind kind = EstimatorKind::kPhsic;
  double ridge = 0;  // 0 for phsic
  Estimator<T> estimator;
};

// Features of pairs that the covariances do not know. REQUIRES: as many rows of x as of y.
template <class T>
struct UnseenPairs {
  Items<T> x;
  Items<T> y;
};

// Builds what the specification asks for. What it leaves open is decided by how well each
// possibility tells the unseen pairs from shuffled ones (the mean of AUC and MRR): the ridge by
// climbing along kRidgeGrid from kDefaultRidge for as long as each step is better by a standard
// error, the kind in favour of gaussian-pmi unless another is better by two. With too few unseen
// pairs (null: none) it is gaussian-pmi at kDefaultRidge, or phsic where the covariance of x and y
// is all there is.
template <class T>
[[nodiscard]] Choice<T> choose_estimator(const Covariance& covariance, const EstimatorSpec& spec,
                                         const UnseenPairs<T>* unseen, std::uint64_t seed);

// Is there more than one possibility, and a use for unseen pairs?
[[nodiscard]] bool has_choice(const Covariance& covariance, const EstimatorSpec& spec);

// Builds one in particular.
template <class T>
[[nodiscard]] Estimator<T> build_estimator(const Covariance& covariance, const EstimatorSpec& spec,
                                           EstimatorKind kind, double ridge, std::uint64_t seed);

}  // namespace phsic
