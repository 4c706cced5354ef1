#include "daemon/memory.h"

#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

namespace phsic {
namespace {

// Less than this is not worth it: it will be needed again.
constexpr std::uint64_t kWorthwhile = 8U << 20U;

struct Pages {
  std::uint64_t resident = 0;
  std::uint64_t of_files = 0;
};

Pages pages() {
  std::ifstream file("/proc/self/statm");
  std::uint64_t size = 0;
  Pages found;
  file >> size >> found.resident >> found.of_files;
  return found;
}

std::uint64_t page_bytes() { return static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)); }

// Resident, and in nobody's use.
std::uint64_t spare_bytes() {
  const auto [resident, of_files] = pages();
  const auto own = (resident - std::min(of_files, resident)) * page_bytes();
  const auto heap = mallinfo2();
  return own - std::min<std::uint64_t>(heap.uordblks + heap.hblkhd, own);
}

}  // namespace

std::uint64_t resident_bytes() { return pages().resident * page_bytes(); }

void SpareMemory::give_back() {
  if (spare_bytes() < kept_ + kWorthwhile) return;
  malloc_trim(0);
  kept_ = spare_bytes();
}

}  // namespace phsic
