// Which of many places are damaged in this run.
//
// To damage all of them takes long. So only every kStep-th is damaged, from a first one on that
// changes from run to run and is printed: PHSIC_DAMAGE_STEP=1 damages everywhere (`make torture`
// does), and PHSIC_DAMAGE_FIRST=N repeats the run that began there.
#pragma once

#include <cstddef>

namespace phsic::test {

struct Stride {
  std::size_t step = 1;
  std::size_t first = 0;  // less than step
};

// The same throughout a run.
[[nodiscard]] const Stride& damage_stride();

}  // namespace phsic::test
