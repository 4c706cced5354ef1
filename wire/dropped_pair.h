// A pair that was dropped, with the numbers as they were then.
#pragma once

#include <cstdint>
#include <string>

#include "decide/decision.h"

namespace phsic {

struct DroppedPair {
  std::string id;  // as it was written: JSON
  std::string x;   // empty for vectors
  std::string y;
  double score = 0;  // NaN where there was none
  double percentile = 0;
  double p_value = 0;
  Decision decision;
  std::uint64_t model = 0;
  std::uint64_t epoch = 0;
  double time = 0;            // seconds since 1970
  bool are_vectors = false;   // there are no texts
  bool is_shortened = false;  // the texts are the beginning of longer ones
};

}  // namespace phsic
