// Why several views together score a pair as they do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "engine/pair_explanation.h"
#include "engine/viewed_model.h"

namespace phsic {

// Blends what each view says by itself, as the score is blended; none for a view that cannot tell.
// `seen` has a bit for each view that finds something in the pair. Keeps `top` learned pairs that
// raise and as many that lower the score. None if no view that counts can tell.
[[nodiscard]] std::optional<PairExplanation> blend_explanations(
    const ViewedModel& viewed, const std::vector<std::optional<PairExplanation>>& views,
    std::uint8_t seen, std::size_t top);

}  // namespace phsic
