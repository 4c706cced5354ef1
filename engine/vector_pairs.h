// Pairs of vectors that are kept.
#pragma once

#include "core/items.h"

namespace phsic {

struct VectorPairs {
  ItemBlock<float> x;
  ItemBlock<float> y;
};

}  // namespace phsic
