// The features of some items, and the memory that scoring keeps between calls.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "core/items.h"
#include "core/workspace.h"

namespace phsic {

// The features of a block of items, and how well the pivots describe each.
template <class T>
struct FeatureBlock {
  Items<T> features;             // dense or sparse rows; points into `storage` or into the items
  std::vector<double> self;      // k(x, x); empty without pivots
  std::vector<double> residual;  // k(x, x) - |a(x)|^2, at least 0; empty without pivots

  std::vector<T> storage;  // owned by the block and reused from call to call
  std::vector<T> kernel_values;
};

// The coordinates of pairs, before those of the mean are subtracted (estimator.h): rows x rank.
template <class T>
struct PairCoordinates {
  std::vector<T> u;
  std::vector<T> v;

  std::size_t rank = 0;

  void resize(std::size_t rows, std::size_t of_rank) {
    rank = of_rank;
    u.resize(rows * rank);
    v.resize(rows * rank);
  }
  void clear(std::size_t row) {
    std::fill_n(u.begin() + static_cast<std::ptrdiff_t>(row * rank), rank, T(0));
    std::fill_n(v.begin() + static_cast<std::ptrdiff_t>(row * rank), rank, T(0));
  }
};

// The memory that one thread scores in. Kept between calls, it saves the allocations.
template <class T>
struct ScoreScratch {
  Workspace workspace;
  FeatureBlock<T> x;
  FeatureBlock<T> y;
};

}  // namespace phsic
