// The coordinates of the halves of texts, in the directions of one side of a model.
//
// Where a text is cut at white space, the items of its halves add up to that of the whole if the
// encoder is additive. Then only the first half is encoded and projected: the second is what the
// whole has beyond it. All other halves are encoded and projected by themselves.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "core/estimator.h"
#include "core/features.h"
#include "engine/encoder.h"

namespace phsic {

// Kept from call to call.
struct HalvesScratch {
  std::vector<std::string_view> parts;
  std::vector<unsigned char> is_first_alone;  // of each text
  Encoded encoded;
  FeatureBlock<float> features;
  Workspace workspace;
  std::vector<float> projected;  // of the parts
  std::vector<float> places;     // zeros
};

// The items, with nothing in the place of those that have a fault: maps need sound ones. Valid as
// long as `storage` and the items are.
[[nodiscard]] Items<float> sound_items(const Items<float>& items, ItemBlock<float>& storage);

class HalfCoordinates {
 public:
  // All outlive this. `is_x` says which side of the estimator is meant.
  HalfCoordinates(const Encoder& encoder, const FeatureMap<float>& map,
                  const Estimator<float>& estimator, bool is_x);

  // Writes 2 x rank() values for each text to `out`: those of the first half, then of the second.
  // `wholes` and `coordinates` are the items of the texts and what the estimator makes of them, and
  // without fault. The values of a text depend on that text alone, to the last bit.
  // Throws an Error when the encoder fails.
  void find(std::span<const std::string_view> texts, const Items<float>& wholes,
            const float* coordinates, std::vector<float>& out, HalvesScratch& scratch) const;

 private:
  void cut(std::span<const std::string_view> texts, HalvesScratch& scratch) const;
  const float* project(HalvesScratch& scratch) const;

  const Encoder& encoder_;
  const FeatureMap<float>& map_;
  const Estimator<float>& estimator_;
  bool is_x_;
  bool adds_up_;  // the halves' items to the whole's
  bool is_unit_;  // features are items of length 1
};

}  // namespace phsic
