// What may change of a configuration while the daemon runs.
#pragma once

#include <string>
#include <vector>

#include "daemon/config.h"

namespace phsic {

// Why a daemon that runs with `running` cannot take over `wanted`, a line for each reason:
// "streams.chat.encoder: found a change, expected none ...". Empty: it can. Streams may be added,
// and options that the reference marks as changeable may change.
[[nodiscard]] std::vector<std::string> refused_changes(const Config& running, const Config& wanted);

}  // namespace phsic
