// Why a judge thinks of a pair as it does: what the expert says for the damage that the pair looks
// most like.
//
// An expert's log odds are a sum over components, coefficient times deviation from the mean, and
// what they are for a mean pair. So each component has a part in them that is exact.
#pragma once

#include <cstddef>
#include <optional>

#include "engine/batch.h"
#include "engine/judge.h"
#include "engine/pair_explanation.h"

namespace phsic {

// Of the one pair of a batch that this judge has judged; it works in the batch's scratch. At most
// `top` components are told. None if the pair has no quality.
[[nodiscard]] std::optional<ExpertOpinion> expert_opinion(const Judge& judge, Batch& batch,
                                                          std::size_t top);

}  // namespace phsic
