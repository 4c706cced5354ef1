// What a stream suffers from, as its judge has found, for a reader and for a program.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "engine/stream_facts.h"

namespace phsic {

// "24% looks damaged: spliced(right) 9%, mismatched 8%", the largest shares first.
[[nodiscard]] std::string describe_damage(const DamageFacts& damage);
// What to think of that, and of quality, where there is too much damage; else empty.
[[nodiscard]] std::string describe_doubt(const DamageFacts& damage);

// {"junk_share": ..., "quality_trusted": ..., "damage": {KIND: share}}, as in the answer to stats.
void add_damage(const DamageFacts& damage, nlohmann::ordered_json& to);

}  // namespace phsic
