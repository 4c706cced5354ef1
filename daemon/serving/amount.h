// Pairs and bytes: of what waits, of a limit, or of one batch.
#pragma once

#include <cstdint>

namespace phsic {

struct Amount {
  std::uint64_t pairs = 0;
  std::uint64_t bytes = 0;
};

}  // namespace phsic
