#include "core/reservoir.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <map>

#include "core/random.h"
#include "tests/core/streams.h"

namespace phsic::test {
namespace {

constexpr ItemShape kOne{ItemKind::kDense, 1};

// Offers pair i with the value i on both sides.
void offer(Reservoir<double>& reservoir, std::uint64_t i, double log_weight, std::uint64_t seed) {
  const auto value = static_cast<double>(i);
  const DenseRows<double> row{&value, 1, 1};
  reservoir.offer(row, row, 0, i, log_weight, Random(seed, i).uniform());
}

TEST_CASE("A reservoir that is not full keeps every pair with its weight") {
  Reservoir<double> reservoir(100, kOne, kOne);
  for (std::uint64_t i = 0; i < 60; ++i) offer(reservoir, i, std::log(1 + double(i)), 1);
  const auto sample = reservoir.sample(0);
  REQUIRE(sample.weights.size() == 60);
  for (std::size_t i = 0; i < 60; ++i) {
    CHECK(sample.weights[i] == Approx(1 + double(i)).epsilon(1e-12));
    CHECK(sample.sequences[i] == i);
    CHECK(std::get<DenseRows<double>>(sample.x.view()).row(i)[0] == double(i));
  }
}

TEST_CASE("A uniform draw is never 0 and never 1") {
  // The seeds of which the first bits are all 0 and all 1.
  CHECK(Random(0xc5deefb0344c1df5).bits() == 0);
  CHECK(Random(0xc5deefb0344c1df5).uniform() == 0x1p-54);
  CHECK(Random(0x1fdb84807c8bc327).bits() == ~std::uint64_t{0});
  CHECK(Random(0x1fdb84807c8bc327).uniform() == 1 - 0x1p-53);
}

TEST_CASE("A pair of weight zero never stays") {
  Reservoir<double> reservoir(100, kOne, kOne);
  offer(reservoir, 1, -INFINITY, 1);
  CHECK(reservoir.size() == 0);
}

TEST_CASE("Sums over the sample estimate sums over the stream") {
  // The mean over many reservoirs of sum w f must be the true one, for flat and for forgetting
  // weights.
  for (const double half_life : {1e9, 60.0}) {
    double truth = 0;
    double total = 0;
    const auto log_weight = [&](std::uint64_t i) { return double(i) / half_life * std::log(2.0); };
    for (std::uint64_t i = 0; i < 400; ++i) {
      total += std::exp(log_weight(i) - log_weight(399));
      truth += std::exp(log_weight(i) - log_weight(399)) * std::sin(double(i));
    }
    constexpr int kRuns = 2000;
    double mean = 0;
    double mean_total = 0;
    double squares = 0;
    for (int run = 0; run < kRuns; ++run) {
      Reservoir<double> reservoir(50, kOne, kOne);
      for (std::uint64_t i = 0; i < 400; ++i) offer(reservoir, i, log_weight(i), 100 + run);
      REQUIRE(reservoir.size() == 50);
      const auto sample = reservoir.sample(log_weight(399));
      double sum = 0;
      for (std::size_t k = 0; k < 50; ++k) {
        sum += sample.weights[k] * std::sin(double(sample.sequences[k]));
        mean_total += sample.weights[k] / kRuns;
      }
      mean += sum / kRuns;
      squares += sum * sum / kRuns;
    }
    const double error = std::sqrt((squares - mean * mean) / kRuns);
    CHECK(std::abs(mean - truth) < 4 * error);
    CHECK(mean_total == Approx(total).epsilon(0.02));
  }
}

TEST_CASE("A reservoir of months does not overflow") {
  Reservoir<double> reservoir(20, kOne, kOne);
  for (std::uint64_t i = 0; i < 1000; ++i) offer(reservoir, i, 1e6 * double(i), 1);
  const auto sample = reservoir.sample(1e6 * 999);
  for (const double weight : sample.weights) CHECK(std::isfinite(weight));
  // Each pair outweighs all before: the last 20 stay.
  for (const auto sequence : sample.sequences) CHECK(sequence >= 980);
}

TEST_CASE("Merging reservoirs gives the reservoir of the whole stream") {
  Reservoir<double> whole(30, kOne, kOne);
  Reservoir<double> left(30, kOne, kOne);
  Reservoir<double> right(30, kOne, kOne);
  for (std::uint64_t i = 0; i < 300; ++i) {
    offer(whole, i, 0.01 * double(i), 7);
    offer(i % 3 == 0 ? left : right, i, 0.01 * double(i), 7);
  }
  left.merge(right, 0);
  std::map<std::uint64_t, double> expected;
  const auto sample = whole.sample(0);
  for (std::size_t k = 0; k < 30; ++k) expected[sample.sequences[k]] = sample.weights[k];
  const auto merged = left.sample(0);
  REQUIRE(merged.weights.size() == 30);
  for (std::size_t k = 0; k < 30; ++k) {
    CHECK(expected.at(merged.sequences[k]) == Approx(merged.weights[k]).epsilon(1e-9));
  }
}

TEST_CASE("Memory stays within twice the capacity") {
  Reservoir<double> reservoir(10, kOne, kOne);
  std::size_t largest = 0;
  for (std::uint64_t i = 0; i < 20000; ++i) {
    // Every pair displaces another.
    offer(reservoir, i, 50 * double(i), 3);
    Writer writer;
    if (i % 1000 == 0) {
      reservoir.save(writer);
      largest = std::max(largest, writer.bytes().size());
    }
  }
  CHECK(reservoir.size() == 10);
  CHECK(largest < 1000);
}

}  // namespace
}  // namespace phsic::test
