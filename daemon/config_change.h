// What may change of a configuration while the daemon runs.
#pragma once

#include <string>
#include <vector>

#include "daemon/config.h"

namespace phsic {

// What forbids to go on with `wanted` where `running` was in use, a line each:
// "streams.chat.encoder: found a change, expected none ...". Empty: nothing does. Streams may be
// added, and options that the reference marks as changeable may change.
[[nodiscard]] std::vector<std::string> refused_changes(const Config& running, const Config& wanted);

}  // namespace phsic
