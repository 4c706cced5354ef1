// Ctrl-C, and SIGTERM, as a wish to end soon and in good order. Asked a second time, the process
// ends at once.
#pragma once

#include <chrono>

namespace phsic {

// How long to wait before asking again whether somebody wants to end.
inline constexpr std::chrono::milliseconds kInterruptLook{100};

// While one lives, the wish is noted. One at a time.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;
  Interrupt(Interrupt&&) = delete;
  Interrupt& operator=(Interrupt&&) = delete;

  // Was there a wish? Any thread.
  [[nodiscard]] static bool is_wanted();
};

}  // namespace phsic
