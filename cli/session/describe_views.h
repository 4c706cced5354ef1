// What a summary says of the views of a stream.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "engine/stream_facts.h"

namespace phsic {

// How much each counts: "hashing 0.58 (self-AUC 0.8710), wordvec 0.42 (self-AUC 0.8530)"; empty
// where there is one view.
[[nodiscard]] std::string describe_views(const std::vector<ViewFacts>& views);

// The same for programs: [{"name": ..., "weight": ..., "self_auc": ...}].
[[nodiscard]] nlohmann::ordered_json views_json(const std::vector<ViewFacts>& views);

}  // namespace phsic
