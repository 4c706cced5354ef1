// The items of pairs as one view of a stream sees them.
#pragma once

#include "core/items.h"

namespace phsic {

struct ViewItems {
  Items<float> x;
  Items<float> y;
};

}  // namespace phsic
