#include "core/loops.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "core/random.h"

namespace phsic {
namespace {

// Lengths around the width of the lanes, where remainders are handled.
constexpr std::size_t kLengths[] = {0, 1, 2, 7, 8, 15, 16, 17, 31, 32, 33, 100};

template <class T>
std::vector<T> random_values(std::size_t n, std::uint64_t seed) {
  Random random(seed);
  std::vector<T> values(n);
  for (T& value : values) value = static_cast<T>(random.normal());
  return values;
}

TEMPLATE_TEST_CASE("Loops do what their formulas say at every length", "", float, double) {
  const double tolerance = sizeof(TestType) == 4 ? 1e-5 : 1e-12;
  for (const std::size_t n : kLengths) {
    CAPTURE(n);
    const auto x = random_values<TestType>(n, 1);
    const auto y = random_values<TestType>(n, 2);
    const auto w = random_values<double>(n, 3);
    const auto a = random_values<double>(n, 4);
    const auto b = random_values<double>(n, 5);
    double squares = 0;
    double distance = 0;
    double manhattan = 0;
    double bilinear = 0;
    double quadratic = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const auto xi = double(x[i]);
      const auto yi = double(y[i]);
      squares += xi * xi;
      distance += (xi - yi) * (xi - yi);
      manhattan += std::abs(xi - yi);
      bilinear += w[i] * (xi - a[i]) * (yi - b[i]);
      quadratic += w[i] * ((xi - a[i]) * (xi - a[i]) + (yi - b[i]) * (yi - b[i]));
    }
    CHECK(loops::squared_norm(x.data(), n) == Approx(squares).epsilon(1e-12));
    CHECK(double(loops::squared_distance(x.data(), y.data(), n)) ==
          Approx(distance).epsilon(tolerance));
    CHECK(double(loops::manhattan(x.data(), y.data(), n)) == Approx(manhattan).epsilon(tolerance));
    CHECK(loops::bilinear(x.data(), a.data(), y.data(), b.data(), w.data(), n) ==
          Approx(bilinear).margin(1e-10));
    CHECK(loops::quadratic(x.data(), a.data(), y.data(), b.data(), w.data(), n) ==
          Approx(quadratic).margin(1e-10));

    std::vector<TestType> out(n + 1, TestType(7));
    std::vector<double> sum(n, 1);
    loops::centre_row(x.data(), y.data(), n, TestType(2), out.data(), sum.data());
    for (std::size_t i = 0; i < n; ++i) {
      CHECK(double(out[i]) == Approx(2 * (double(x[i]) - double(y[i]))).margin(tolerance));
      CHECK(sum[i] == Approx(1 + 4 * (double(x[i]) - double(y[i]))).margin(4 * tolerance));
    }
    CHECK(out[n] == TestType(7));
  }
}

TEST_CASE("A dot product takes its second factors in any order") {
  for (const std::size_t n : kLengths) {
    const auto x = random_values<double>(n, 7);
    const auto y = random_values<double>(n + 50, 8);
    Random random(9);
    std::vector<std::uint32_t> order(n);
    double expected = 0;
    for (std::size_t i = 0; i < n; ++i) {
      order[i] = static_cast<std::uint32_t>(random.below(n + 50));
      expected += x[i] * y[order[i]];
    }
    CHECK(loops::gathered_dot(x.data(), y.data(), order.data(), n) ==
          Approx(expected).margin(1e-12));
  }
}

TEMPLATE_TEST_CASE("One bad value among many is seen wherever it stands", "", float, double) {
  using Limits = std::numeric_limits<TestType>;
  for (const TestType bad :
       {Limits::quiet_NaN(), Limits::infinity(), -Limits::infinity(), TestType(11)}) {
    for (std::size_t at = 0; at < 40; ++at) {
      auto x = random_values<TestType>(40, 6);
      std::vector<TestType> out(40);
      CHECK(loops::all_within(x.data(), 40, TestType(10)));
      x[at] = bad;
      CHECK_FALSE(loops::all_within(x.data(), 40, TestType(10)));
      CHECK_FALSE(loops::copy_within(x.data(), 40, TestType(10), out.data()));
    }
  }
}

TEST_CASE("The float exponential is right to 3e-7") {
  std::vector<float> values;
  for (double t = 0; t < 86; t += 0.00137) values.push_back(static_cast<float>(t));
  const std::vector<float> arguments = values;
  loops::exp_negative(values.data(), values.size(), 1.0F);
  double worst = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double expected = std::exp(-double(arguments[i]));
    worst = std::max(worst, std::abs(double(values[i]) / expected - 1));
  }
  CHECK(worst < 3e-7);
  float far[] = {100, 1e10F, std::numeric_limits<float>::infinity()};
  loops::exp_negative(far, 3, 1.0F);
  for (const float value : far) CHECK((value >= 0 && value < 1e-37F));
}

}  // namespace
}  // namespace phsic
