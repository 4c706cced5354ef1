#include "daemon/memory.h"

#include <catch2/catch.hpp>
#include <cstddef>
#include <memory>
#include <vector>

namespace phsic::test {
namespace {

// A sanitizer has an allocator of its own, which keeps what was freed.
#ifndef PHSIC_SANITIZED

constexpr std::size_t kMiB = std::size_t{1} << 20U;
constexpr std::size_t kPeak = 64 * kMiB;

// A peak that goes and leaves small pieces in use all over the heap.
std::vector<std::unique_ptr<char[]>> pieces_that_a_peak_leaves() {
  constexpr std::size_t kLarge = 32U << 10U;
  constexpr std::size_t kSmall = 64;
  std::vector<std::unique_ptr<char[]>> large;
  std::vector<std::unique_ptr<char[]>> small;
  for (std::size_t bytes = 0; bytes < kPeak; bytes += kLarge) {
    large.push_back(std::make_unique<char[]>(kLarge));  // zeros: every page is touched
    small.push_back(std::make_unique<char[]>(kSmall));
  }
  return small;
}

TEST_CASE("Memory that a peak has left is given back, though pieces between are in use") {
  SpareMemory spare;
  const auto before = resident_bytes();
  const auto in_use = pieces_that_a_peak_leaves();
  // Otherwise there is nothing to give back, and the test says nothing.
  REQUIRE(resident_bytes() > before + kPeak / 2);
  spare.give_back();
  CHECK(resident_bytes() < before + kPeak / 8);
}

#endif

}  // namespace
}  // namespace phsic::test
