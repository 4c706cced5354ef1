// What a judge says of a pair, and the memory that one thread judges in.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/feature_block.h"
#include "core/workspace.h"
#include "engine/encoder.h"
#include "engine/surface.h"
#include "engine/view_items.h"

namespace phsic {

struct Judgement {
  double quality = 0;  // the probability that the pair is good; NaN where nobody can tell
  double soft_minimum = 0;
  std::uint8_t kind = 0;  // the number of the damage that it looks most like (damage.h)
};

// Kept from call to call.
struct JudgeScratch {
  std::vector<ViewItems> wholes;
  Encoded halves[2];
  std::vector<std::string_view> parts;
  FeatureBlock<float> features;
  Workspace workspace;
  std::vector<float> coordinates[4];  // u and v of wholes, then of halves
  std::vector<float> centred;
  SurfaceScratch surface;
  std::vector<double> rows;  // components
  std::vector<double> log_odds;
};

}  // namespace phsic
