// The memory of the process: how much it has, and what it can give back.
#pragma once

#include <cstdint>

namespace phsic {

// Resident, in bytes.
[[nodiscard]] std::uint64_t resident_bytes();

// Gives the system back what a peak has left behind. The allocator keeps freed memory: it cannot
// shrink by itself while something between the free pieces is in use. Belongs to one thread.
class SpareMemory {
 public:
  // To be called now and then. Does nothing unless much has been freed since the last time.
  void give_back();

 private:
  std::uint64_t kept_ = 0;  // free and resident after the last time
};

}  // namespace phsic
