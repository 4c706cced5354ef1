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

// Two streams, the pairs of the right one weighing exp(slope i), offered to two reservoirs of the
// same seed and merged.
struct Twins {
  std::size_t capacity;
  std::uint64_t left;
  std::uint64_t right;
  double slope;
};

// The largest deviation of an estimate from the truth, in standard errors over many seeds. The
// estimates are a weighted sum over each stream, and how often each single pair stays, counted 1 /
// pi.
double largest_deviation(const Twins& twins, bool anew) {
  constexpr int kRuns = 20000;
  constexpr double kShift = 3;  // the right clock's
  const std::uint64_t pairs = twins.left + twins.right;
  const auto log_weight = [&](std::uint64_t i) {
    return i < twins.left ? 0 : twins.slope * double(i - twins.left);
  };
  const auto value = [](std::uint64_t i) { return 1 + std::sin(double(i)); };
  double truth[2] = {0, 0};
  for (std::uint64_t i = 0; i < pairs; ++i) {
    truth[i < twins.left ? 0 : 1] += std::exp(log_weight(i)) * value(i);
  }
  // Of the estimates: the two sums, then 1 / pi of each pair.
  std::vector<double> sums(2 + pairs);
  std::vector<double> squares(2 + pairs);
  for (int run = 0; run < kRuns; ++run) {
    Reservoir<double> ours(twins.capacity, kOne, kOne);
    Reservoir<double> theirs(twins.capacity, kOne, kOne);
    for (std::uint64_t i = 0; i < pairs; ++i) {
      const bool is_ours = i < twins.left;
      const auto name = static_cast<double>(i);
      const DenseRows<double> row{&name, 1, 1};
      const std::uint64_t sequence = is_ours ? i : i - twins.left;
      (is_ours ? ours : theirs)
          .offer(row, row, 0, sequence, log_weight(i) - (is_ours ? 0 : kShift),
                 Random(100 + run, sequence).uniform());
    }
    if (anew) {
      Random seeds(run);
      ours.redraw(seeds.bits());
      theirs.redraw(seeds.bits());
    }
    ours.merge(theirs, kShift);
    const auto sample = ours.sample(0);
    const Items<double> names = sample.x.view();
    double estimates[2] = {0, 0};
    for (std::size_t k = 0; k < sample.weights.size(); ++k) {
      const auto i = static_cast<std::uint64_t>(std::get<DenseRows<double>>(names).row(k)[0]);
      estimates[i < twins.left ? 0 : 1] += sample.weights[k] * value(i);
      const double share = sample.weights[k] / std::exp(log_weight(i));
      sums[2 + i] += share;
      squares[2 + i] += share * share;
    }
    for (std::size_t side = 0; side < 2; ++side) {
      sums[side] += estimates[side];
      squares[side] += estimates[side] * estimates[side];
    }
  }
  double largest = 0;
  for (std::size_t k = 0; k < sums.size(); ++k) {
    const double expected = k < 2 ? truth[k] : 1;
    const double mean = sums[k] / kRuns;
    const double variance = std::max(squares[k] / kRuns - mean * mean, 0.0) / kRuns;
    // Rounding, where every pair stays.
    const double error = std::sqrt(variance) + 1e-9 * expected;
    largest = std::max(largest, std::abs(mean - expected) / error);
  }
  return largest;
}

TEST_CASE("Reservoirs of the same draws merge without bias once both are drawn anew") {
  for (const Twins& twins : {Twins{2, 20, 20, 0.05}, Twins{3, 20, 20, 0}, Twins{3, 20, 40, 0},
                             Twins{5, 30, 15, 0}, Twins{10, 40, 20, 0.05}, Twins{10, 40, 20, -0.1},
                             // Nothing was displaced in one of them.
                             Twins{25, 20, 40, 0}, Twins{25, 40, 20, 0.05}}) {
    CAPTURE(twins.capacity, twins.left, twins.right, twins.slope);
    CHECK(largest_deviation(twins, true) < 4.5);
    CHECK(largest_deviation(twins, false) > 6);
  }
  // Nor in the whole.
  CHECK(largest_deviation({60, 20, 40, 0.05}, true) < 4.5);
}

TEST_CASE("Drawing anew changes no estimate, and gives the same for the same seed") {
  Reservoir<double> reservoir(30, kOne, kOne);
  for (std::uint64_t i = 0; i < 300; ++i) offer(reservoir, i, 0.01 * double(i), 7);
  auto once = reservoir;
  auto restored = parse<Reservoir<double>>(serialise(reservoir));
  auto other = reservoir;
  once.redraw(1);
  restored.redraw(1);
  other.redraw(2);
  CHECK(serialise(once) == serialise(restored));
  CHECK(serialise(once) != serialise(reservoir));
  CHECK(serialise(once) != serialise(other));
  CHECK(once.sequences() == reservoir.sequences());
  CHECK(once.sample_weights(0) == reservoir.sample_weights(0));
  // They go on as one that was saved does.
  auto reread = parse<Reservoir<double>>(serialise(once));
  for (std::uint64_t i = 300; i < 600; ++i) {
    offer(once, i, 0.01 * double(i), 7);
    offer(reread, i, 0.01 * double(i), 7);
  }
  CHECK(serialise(once) == serialise(reread));
}

TEST_CASE("Keys drawn anew are finite, however unlikely the pair was to stay") {
  Reservoir<double> months(20, kOne, kOne);
  for (std::uint64_t i = 0; i < 1000; ++i) offer(months, i, 1e6 * double(i), 1);
  months.redraw(2);
  CHECK(parse<Reservoir<double>>(serialise(months)).size() == 20);
  // The lightest pair has the best of all draws: its w tau is below 1e-15.
  Reservoir<double> lucky(1, kOne, kOne);
  const double zero = 0;
  const DenseRows<double> row{&zero, 1, 1};
  lucky.offer(row, row, 0, 0, -30, 1 - 0x1p-53);
  lucky.offer(row, row, 0, 1, 0, 0.99);
  REQUIRE(lucky.sequences() == std::vector<std::uint64_t>{0});
  const auto before = lucky.sample_weights(0);
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    lucky.redraw(seed);
    CHECK(parse<Reservoir<double>>(serialise(lucky)).sample_weights(0) == before);
    // Its key is still below the keys of the pairs that did not stay.
    auto again = lucky;
    again.offer(row, row, 0, 2, 0, 0.99);
    CHECK(again.sequences() == lucky.sequences());
  }
}

TEST_CASE("A saved threshold below which no key can lie is refused") {
  Reservoir<double> reservoir(3, kOne, kOne);
  for (std::uint64_t i = 0; i < 9; ++i) offer(reservoir, i, 0, 1);
  Writer writer;
  reservoir.save(writer);
  for (const double threshold : {-double(INFINITY), double(NAN)}) {
    std::string bytes = writer.bytes();
    Writer bad;
    bad.number(threshold);
    // Before the three slots' key, weight and number.
    bytes.replace(bytes.size() - 3 * 24 - 8, 8, bad.bytes());
    CHECK_THROWS_WITH(
        parse<Reservoir<double>>(seal(Reservoir<double>::kArchiveKind, bytes)),
        Catch::Contains("reservoir threshold") && Catch::Contains("expected a number or infinity"));
  }
}

}  // namespace
}  // namespace phsic::test
