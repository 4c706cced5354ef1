// Does work that must be done, and waits until there is memory for it.
#pragma once

#include <chrono>
#include <new>
#include <thread>

namespace phsic {

// Calls `work` again, after a pause, for as long as it throws a std::bad_alloc. Others give memory
// back meanwhile: whatever a client may ask for is bounded. REQUIRES: nothing has changed when the
// work throws.
template <class Work>
auto when_there_is_memory(const Work& work) {
  constexpr auto kPause = std::chrono::milliseconds(10);
  while (true) {
    try {
      return work();
    } catch (const std::bad_alloc&) {
      std::this_thread::sleep_for(kPause);
    }
  }
}

}  // namespace phsic
