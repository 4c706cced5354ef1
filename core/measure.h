// Self-measurement: how well an estimator tells matched pairs from mismatched ones, without labels.
//
// Held-back pairs are scored as they are and with their y's exchanged by derangements: no pair
// keeps its own y.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/accuracy.h"
#include "core/estimator.h"
#include "core/items.h"

namespace phsic {

// Scores of pairs with their own y and with others'.
struct Trial {
  std::vector<double> matched;  // of pair i
  std::vector<double> null;     // of pair i with another's y: entries i * shuffles + k
  std::size_t shuffles = 0;
};

inline constexpr std::size_t kShuffles = 9;

// Scores every row with itself and with `shuffles` others (fewer if there are fewer rows).
// Throws if a score is not finite. REQUIRES: finite features, as many rows of x as of y.
template <class T>
[[nodiscard]] Trial run_trial(const Estimator<T>& estimator, const Items<T>& x, const Items<T>& y,
                              std::uint64_t seed, std::size_t shuffles = kShuffles);

// Which pairs of a trial are exchanged with which, and where their rows are.
struct TrialPlan {
  static constexpr std::size_t kAbsent = SIZE_MAX;

  // The y of the pair at place p of `order` goes to those before it, at most `shuffles` of them;
  // all pairs are there once.
  std::vector<std::size_t> order;
  std::size_t shuffles = kShuffles;
  // As many from after it as from before it, but for one.
  bool both_ways = false;
  std::vector<std::size_t> rows;  // the row of each pair, or kAbsent
};

// The order in which run_trial() exchanges n pairs.
[[nodiscard]] std::vector<std::size_t> random_order(std::size_t n, std::uint64_t seed);

// The same for pairs of which some have no row: whatever they are part of scores NaN, and so does
// what is not finite. REQUIRES: as many rows as places; rows that x and y have.
template <class T>
[[nodiscard]] Trial run_trial(const Estimator<T>& estimator, const Items<T>& x, const Items<T>& y,
                              const TrialPlan& plan);

// For each pair, the share of null scores below its matched one, ties half. Their mean is the AUC.
[[nodiscard]] std::vector<double> placements(const Trial& trial);

// For each pair, the rank of its own y among it and the exchanged ones, from 1. Ties take the
// middle of the places they could have.
[[nodiscard]] std::vector<double> ranks_of(const Trial& trial);

// What each pair adds to the mean of AUC and MRR, since scores serve to detect and to rank. The
// reciprocal rank is the one expected among kShuffles others.
[[nodiscard]] std::vector<double> merits_of(const Trial& trial);

// Are the first merits better than the second by so many standard errors? They are of the same
// pairs, so the differences are what counts.
[[nodiscard]] bool is_clearly_better(const std::vector<double>& merits,
                                     const std::vector<double>& others, double standard_errors);

// None for fewer than two pairs.
[[nodiscard]] std::optional<Accuracy> accuracy_of(const Trial& trial);

// The probability that a positive scores above a negative, ties half; 0.5 when either is empty.
[[nodiscard]] double area_under_curve(const std::vector<double>& positives,
                                      std::vector<double> negatives);

}  // namespace phsic
