#include "core/blas.h"

#include <catch2/catch.hpp>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <vector>

namespace phsic::test {
namespace {

std::ptrdiff_t thread_count() {
  const std::filesystem::directory_iterator threads("/proc/self/task");
  return std::distance(begin(threads), end(threads));
}

TEST_CASE("BLAS has no threads of its own, before and after a large product") {
  CHECK(thread_count() == 1);
  constexpr std::size_t kSize = 700;
  const std::vector<double> a(kSize * kSize, 0.5);
  std::vector<double> c(kSize * kSize);
  blas::multiply(kSize, kSize, kSize, a.data(), a.data(), c.data());
  CHECK(c == std::vector<double>(kSize * kSize, 0.25 * kSize));
  CHECK(thread_count() == 1);
}

}  // namespace
}  // namespace phsic::test
