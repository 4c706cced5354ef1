// Scoring goes before learning, and before keeping what was learned.
#pragma once

#include <sys/resource.h>

namespace phsic {

// For threads that no score waits for. On Linux a thread has a niceness of its own. If it cannot be
// raised, all threads are equal.
inline void give_way_to_scoring() {
  constexpr int kNiceness = 10;
  setpriority(PRIO_PROCESS, 0, kNiceness);
}

}  // namespace phsic
