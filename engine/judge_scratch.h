// What a judge says of a pair, and the memory that one thread judges in.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/feature_block.h"
#include "core/workspace.h"
#include "engine/half_coordinates.h"
#include "engine/surface.h"
#include "engine/view_items.h"

namespace phsic {

struct Judgement {
  double quality = 0;  // the probability that the pair is good; NaN where nobody can tell
  double soft_minimum = 0;
  std::uint8_t kind = 0;  // the number of the damage that it looks most like (damage.h)
};

// Pairs as one view sees them.
struct WholePairs {
  ViewItems items;
  // What the model that judges makes of them; null: that is still to be found.
  const PairCoordinates<float>* coordinates = nullptr;
  // The share of each pair in what the model has learned, which is taken out; null: of none.
  const double* own_shares = nullptr;
};

// Pairs that are to be judged. Everything stays the caller's.
struct PairsToJudge {
  std::span<const std::string_view> x;  // may be empty where nothing of texts is read
  std::span<const std::string_view> y;
  std::span<const WholePairs> views;               // as each view of the judge sees them
  std::span<const std::uint8_t> was_learned = {};  // how often; empty: none was
};

// Kept from call to call.
struct JudgeScratch {
  std::vector<WholePairs> views;
  FeatureBlock<float> features;
  Workspace workspace;
  PairCoordinates<float> wholes;
  PairCoordinates<float> halves;
  HalvesScratch cut;
  std::vector<float> centred;
  SurfaceScratch surface;
  std::vector<double> rows;  // components
  std::vector<double> log_odds;
};

}  // namespace phsic
