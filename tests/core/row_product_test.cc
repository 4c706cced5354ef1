#include "core/row_product.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "core/random.h"
#include "tests/core/law.h"

namespace phsic::test {
namespace {

template <class T>
std::vector<T> random_values(std::size_t count, Random& random) {
  std::vector<T> values(count);
  for (T& value : values) value = static_cast<T>(random.normal());
  return values;
}

// The product in the order of summation that the header promises, one element after the other.
template <class T>
std::vector<T> summed_in_order(std::size_t m, std::size_t n, std::size_t k, const std::vector<T>& a,
                               const std::vector<T>& b, bool is_fused) {
  std::vector<T> c(m * n);
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      T sum = 0;
      for (std::size_t e = 0; e < k; ++e) {
        const T x = a[i * k + e];
        const T y = b[e * n + j];
        sum = is_fused ? std::fma(x, y, sum) : sum + x * y;
      }
      c[i * n + j] = sum;
    }
  }
  return c;
}

TEMPLATE_TEST_CASE("Every element is summed in order, whatever the shape and the instructions", "",
                   float, double) {
  Random random(5);
  Workspace workspace;
  // Around one vector, a tile, a few rows, and the depth of a panel.
  const std::size_t columns[] = {1, 2, 3, 7, 8, 9, 16, 17, 31, 32, 33, 40, 65};
  const std::size_t depths[] = {1, 3, 4, 5, 33, 512, 515};
  for (const std::size_t n : columns) {
    for (const std::size_t k : depths) {
      const auto b = random_values<TestType>(k * n, random);
      for (const std::size_t m : {1, 2, 3, 4, 5, 7, 8, 13, 15, 16, 17, 30, 37}) {
        const auto a = random_values<TestType>(m * k, random);
        const auto fused = summed_in_order(m, n, k, a, b, true);
        const auto plain = summed_in_order(m, n, k, a, b, false);
        for (const auto with : {Instructions::kPlain, Instructions::kAvx2, Instructions::kAvx512}) {
          if (with > widest_instructions()) continue;
          CAPTURE(m, n, k, int(with));
          std::vector<TestType> c(m * n + 1, TestType(7));
          multiply_rows(m, n, k, a.data(), b.data(), c.data(), workspace, with);
          REQUIRE(c.back() == TestType(7));
          c.pop_back();
          REQUIRE(c == (with == Instructions::kPlain ? plain : fused));
        }
      }
    }
  }
}

TEST_CASE("A product over nothing is zero") {
  Workspace workspace;
  std::vector<float> c(6, 1);
  multiply_rows(3, 2, 0, nullptr, nullptr, c.data(), workspace);
  CHECK(c == std::vector<float>(6, 0));
  multiply_rows(0, 2, 3, nullptr, c.data(), nullptr, workspace);
  multiply_rows(3, 0, 2, c.data(), nullptr, nullptr, workspace);
}

TEST_CASE("A row with NaN spoils no other") {
  Random random(6);
  Workspace workspace;
  auto a = random_values<float>(std::size_t{20} * 50, random);
  const auto b = random_values<float>(std::size_t{50} * 30, random);
  std::vector<float> sound(20 * 30);
  std::vector<float> spoilt(20 * 30);
  multiply_rows(20, 30, 50, a.data(), b.data(), sound.data(), workspace);
  a[4 * 50 + 17] = NAN;
  multiply_rows(20, 30, 50, a.data(), b.data(), spoilt.data(), workspace);
  for (std::size_t i = 0; i < 20; ++i) {
    CAPTURE(i);
    const auto row = spoilt.begin() + long(i * 30);
    if (i == 4) {
      CHECK(std::all_of(row, row + 30, [](float value) { return std::isnan(value); }));
    } else {
      CHECK(std::equal(row, row + 30, sound.begin() + long(i * 30)));
    }
  }
}

// Rows of a product, all at once and in batches. BLAS gives a row different bits on some shapes and
// some processors only, so the law rejects an imitation of that.
TEST_CASE("A product has the same bits in any batch", "[law]") {
  require_law("rows together = rows in batches", 0, [](std::uint64_t seed, Way way) {
    Random random(seed);
    const std::size_t m = 20 + random.below(60);
    const std::size_t n = 1 + random.below(100);
    const std::size_t k = 20 + random.below(600);
    const auto a = random_values<float>(m * k, random);
    const auto b = random_values<float>(k * n, random);
    Workspace workspace;
    std::vector<float> together(m * n);
    multiply_rows(m, n, k, a.data(), b.data(), together.data(), workspace);
    std::vector<float> apart(m * n);
    for (std::size_t first = 0; first < m;) {
      const std::size_t count = std::min(1 + random.below(20), m - first);
      const float* rows = a.data() + first * k;
      multiply_rows(count, n, k, rows, b.data(), apart.data() + first * n, workspace);
      // Wrong: the first row of a batch may be added up from behind.
      if (way == Way::kWrong && (count == 1 || first == 0)) {
        for (std::size_t j = 0; j < n; ++j) {
          float sum = 0;
          for (std::size_t e = k; e-- > 0;) sum = std::fma(rows[e], b[e * n + j], sum);
          apart[first * n + j] = sum;
        }
      }
      first += count;
    }
    double differences = 0;
    for (std::size_t i = 0; i < together.size(); ++i) differences += together[i] != apart[i];
    return differences;
  });
}

}  // namespace
}  // namespace phsic::test
