// The features of some items, and the memory that scoring keeps between calls.
#pragma once

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

// The memory that one thread scores in. Kept between calls, it saves the allocations.
template <class T>
struct ScoreScratch {
  Workspace workspace;
  FeatureBlock<T> x;
  FeatureBlock<T> y;
};

}  // namespace phsic
