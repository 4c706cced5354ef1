// Randomness as a function of numbers handed in, so that a replay draws what the first run drew.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>

namespace phsic {

// The finaliser of SplitMix64: a bijection that scatters neighbouring inputs over all 64 bits.
[[nodiscard]] constexpr std::uint64_t scatter(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

// A SplitMix64 sequence. Copyable; two sequences of the same seed are the same.
class Random {
 public:
  explicit constexpr Random(std::uint64_t seed) : state_(scatter(seed + kStep)) {}
  // The sequence number `index` of a family: independent of its neighbours.
  constexpr Random(std::uint64_t seed, std::uint64_t index)
      : state_(scatter(scatter(seed + kStep) ^ (index * kStep))) {}

  [[nodiscard]] constexpr std::uint64_t bits() { return scatter(state_ += kStep); }

  // In (0, 1): never 0, whose logarithm is infinite, and never 1, whose logarithm is 0. Near 1 the
  // added half is rounded away, hence the bound.
  [[nodiscard]] constexpr double uniform() {
    return std::min((static_cast<double>(bits() >> 11) + 0.5) * 0x1p-53, 1 - 0x1p-53);
  }

  // In [0, limit). REQUIRES: limit > 0. The bias is below limit / 2^64.
  [[nodiscard]] constexpr std::uint64_t below(std::uint64_t limit) {
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::uint64_t>((static_cast<Wide>(bits()) * limit) >> 64);
  }

  [[nodiscard]] double exponential() { return -std::log(uniform()); }

  // Standard normal, by Box and Muller.
  [[nodiscard]] double normal() {
    const double radius = std::sqrt(2 * exponential());
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }

 private:
  static constexpr std::uint64_t kStep = 0x9e3779b97f4a7c15U;
  std::uint64_t state_;
};

}  // namespace phsic
