// Pivots: the few items that stand for all others in the incomplete Cholesky decomposition.
//
// With pivots p_1..p_d and K_PP = L L^T, the feature vector of an item x is a(x) = L^-1 k_P(x);
// what it leaves unexplained is residual(x) = k(x,x) - |a(x)|^2 >= 0.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/items.h"
#include "core/kernel.h"
#include "core/stream_config.h"

namespace phsic {

// Which of the items, and their Cholesky factor.
struct PivotChoice {
  std::vector<std::size_t> chosen;  // positions among the items, in the order chosen
  Eigen::MatrixXd factor;           // L, lower triangular, chosen.size() squared
  double unexplained = 0;           // weighted mean residual over weighted mean k(x,x), afterwards
};

// Chooses up to `count` pivots, fewer when the items are fewer or when every residual has fallen to
// `tolerance` times the largest k(x,x): duplicates never become pivots, and nothing is divided by
// 0. REQUIRES: a fitted kernel; a weight for each item, none negative.
[[nodiscard]] PivotChoice choose_pivots(const Kernel& kernel, const ItemBlock<double>& items,
                                        const std::vector<double>& weights, std::size_t count,
                                        PivotRule rule, double tolerance, std::uint64_t seed);

// The tolerance that suits features of type T.
template <class T>
inline constexpr double kPivotTolerance = sizeof(T) == 4 ? 1e-6 : 1e-10;

// A chosen list of pivots with everything needed to compute features.
template <class T>
struct PivotSet {
  Kernel kernel;           // fitted
  ItemBlock<T> items;      // the pivots
  Eigen::MatrixXd factor;  // L

  void save(Writer& writer) const;
  [[nodiscard]] static PivotSet load(Reader& reader);
};

}  // namespace phsic
