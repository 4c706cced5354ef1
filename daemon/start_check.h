// Finds out whether a daemon with this configuration would start.
#pragma once

#include <string>
#include <vector>

#include "daemon/config.h"

namespace phsic {

enum class CheckDepth {
  kAll,
  kWithoutModels,  // encoders are looked for and loaded, and not opened
};

// What would keep it from starting, a line each; empty: nothing. Binds nothing and writes nothing,
// but for caches that encoders make of their models; a daemon may be using the state meanwhile.
[[nodiscard]] std::vector<std::string> check_start(const Config& config, CheckDepth depth);

}  // namespace phsic
