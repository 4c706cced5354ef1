// How much of a stream is good, and how much is damaged in which way.
//
// Each kind of damage has an expert that tells, in log odds s_k, whether a pair is good rather than
// damaged so; e^-s_k is then how many times more likely the pair is among such damage than among
// good pairs. The shares pi_0 of good pairs and pi_k of each kind are those under which the pairs
// are likeliest, found by expectation-maximisation (Saerens, Latinne, Decaestecker, 2002), and
//
//   quality = pi_0 / (pi_0 + sum_k pi_k e^-s_k)
//
// is the probability that a pair is good.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace phsic {

struct KindShares {
  double good = 1;
  std::vector<double> kinds;  // with `good` they add up to 1

  // REQUIRES: as many log odds as kinds. NaN if one is NaN.
  [[nodiscard]] double quality(const double* log_odds) const;

  bool operator==(const KindShares&) const = default;
};

// The shares of kinds among pairs, row after row of `kinds` log odds. Good pairs that look a little
// like some damage would be taken for it, were there no reason against it: of each kind, `too_few`
// pairs count as good ones.
[[nodiscard]] KindShares estimate_shares(std::span<const double> log_odds, std::size_t kinds,
                                         double too_few);

}  // namespace phsic
