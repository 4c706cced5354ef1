// Fitting a judge without labels: held-back pairs of the stream are damaged on purpose, and each
// expert learns to tell them from what they were.
//
// The held-back pairs contain the very damage one looks for. So each counts by how good it looks to
// experts that were fitted to the other half of them, again and again. How much of the stream is
// damaged in which way is found in the same way, so that no expert judges what it was fitted to.
// The same material gives the same judge to the last bit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/judge.h"
#include "engine/pair_components.h"
#include "engine/vector_pairs.h"

namespace phsic {

// Fewer held-back pairs than this fit no judge; more than kMostJudged are sampled.
inline constexpr std::size_t kFewestJudged = 64;
inline constexpr std::size_t kMostJudged = 1024;

struct JudgeMaterial {
  std::vector<JudgedView> views;
  std::shared_ptr<const FluencyPair> fluency;  // null: nothing is known of texts
  // Held back from the models of the views: texts or, for the one view that there is, vectors.
  std::vector<std::pair<std::string_view, std::string_view>> pairs;
  VectorPairs vectors;
  // Pairs are not damaged, only given each other's y, so that nothing is encoded but the pairs
  // themselves; so it is with vectors. There is one expert then.
  bool exchanges = false;
  std::uint64_t seed = 0;
};

// Null if there is too little to fit a judge to. Throws an Error when an encoder fails.
[[nodiscard]] std::shared_ptr<const Judge> fit_judge(const JudgeMaterial& material);

}  // namespace phsic
