// What a stream tells of itself to its users.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/accuracy.h"
#include "core/dependence_facts.h"

namespace phsic {

struct StreamFacts {
  std::uint64_t pairs = 0;           // learned so far
  std::uint64_t clipped = 0;         // vectors shortened, being far longer than is usual
  std::string estimator;             // in use: "gaussian-pmi"
  double ridge = 0;                  // in use; 0: none
  std::optional<Accuracy> accuracy;  // self-measured
  std::optional<Dependence> dependence;
};

}  // namespace phsic
