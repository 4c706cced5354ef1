// The stream configurations the measures share.
#pragma once

#include "bench/pairs.h"
#include "core/learner.h"
#include "core/refresh.h"

namespace phsic::bench {

// Pairs handed to the learner in one call: a block.
inline constexpr std::size_t kBatch = kBlockPairs;

[[nodiscard]] inline SideConfig side(ItemKind kind, std::size_t dim, const Kernel& kernel,
                                     std::uint32_t pivots = 0) {
  SideConfig config;
  config.items = {kind, static_cast<std::uint32_t>(dim)};
  config.kernel = kernel;
  config.pivots = pivots;
  return config;
}

[[nodiscard]] inline StreamConfig stream(const SideConfig& both_sides,
                                         Moments::Parts parts = Moments::Parts::kAll) {
  StreamConfig config;
  config.x = both_sides;
  config.y = both_sides;
  config.parts = parts;
  return config;
}

// Learns all the pairs, batch by batch, as often as told. REQUIRES: a whole number of batches.
inline void learn_all(Learner<float>& learner, const DensePairs& pairs, std::size_t passes = 1) {
  for (std::size_t pass = 0; pass < passes; ++pass) {
    for (std::size_t first = 0; first < pairs.rows; first += kBatch) {
      learner.learn(pairs.items_x(first, kBatch), pairs.items_y(first, kBatch), nullptr, nullptr,
                    nullptr);
    }
  }
}

// Takes a learner to where a stream spends its life: pivots chosen, buffers grown, and so many
// pairs seen that few enter the sample any more.
inline void warm_up(Learner<float>& learner, const DensePairs& pairs) {
  constexpr std::size_t kWarm = std::size_t{1} << 18;
  while (learner.accepted() < kWarm) learn_all(learner, pairs);
}

[[nodiscard]] inline std::shared_ptr<const Model<float>> model_of(const Learner<float>& learner,
                                                                  const EstimatorSpec& spec) {
  return refresh(learner, spec, Learner<float>::Extent::kAll).model;
}

}  // namespace phsic::bench
