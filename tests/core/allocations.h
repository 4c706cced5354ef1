// What the test program has allocated with operator new, counted by allocation_test.cc.
#pragma once

#include <atomic>
#include <cstddef>

namespace phsic::test {

extern std::atomic<std::size_t> live_bytes;
extern std::atomic<std::size_t> peak_bytes;  // since it was last set

}  // namespace phsic::test
