// The drift alarm: silent on what stays, loud on what changes.
#include "core/drift.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "core/random.h"
#include "core/refresh.h"
#include "tests/core/reduced.h"

namespace phsic::test {
namespace {

using Draw = std::function<double(Random&)>;

double normal(Random& random) { return random.normal(); }

std::vector<double> draws(std::size_t count, Random& random, const Draw& draw = normal) {
  std::vector<double> values(count);
  for (double& value : values) value = draw(random);
  return values;
}

Calibration calibration_of(std::vector<double> matched) {
  std::vector<double> null = matched;
  return {std::move(matched), std::move(null)};
}

// The Smirnov distance from its definition, at every score of either sample; times both sizes.
std::uint64_t brute_distance(const std::vector<double>& a, const std::vector<double>& b) {
  std::uint64_t largest = 0;
  for (const auto* scores : {&a, &b}) {
    for (const double at : *scores) {
      const auto upto = [at](double score) { return score <= at; };
      const auto ours = std::count_if(a.begin(), a.end(), upto) * long(b.size());
      const auto theirs = std::count_if(b.begin(), b.end(), upto) * long(a.size());
      largest = std::max(largest, std::uint64_t(std::abs(ours - theirs)));
    }
  }
  return largest;
}

// The p-value by all ways to divide the pooled scores into samples of these sizes.
double permutation_p_value(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> pooled = a;
  pooled.insert(pooled.end(), b.begin(), b.end());
  const std::uint64_t found = brute_distance(a, b);
  std::vector<bool> is_ours(pooled.size(), false);
  std::fill(is_ours.end() - long(a.size()), is_ours.end(), true);
  double ways = 0;
  double as_far = 0;
  do {
    std::vector<double> ours;
    std::vector<double> theirs;
    for (std::size_t i = 0; i < pooled.size(); ++i) {
      (is_ours[i] ? ours : theirs).push_back(pooled[i]);
    }
    ++ways;
    as_far += brute_distance(ours, theirs) >= found ? 1 : 0;
  } while (std::next_permutation(is_ours.begin(), is_ours.end()));
  return as_far / ways;
}

TEST_CASE("The p-value is the share of permutations that lie as far apart") {
  Random random(1);
  for (int round = 0; round < 40; ++round) {
    const auto a = draws(1 + random.below(6), random);
    const auto b =
        draws(1 + random.below(7), random, [](Random& r) { return r.normal() + r.uniform(); });
    CAPTURE(round, a.size(), b.size());
    const double p = smirnov_p_value(brute_distance(a, b), a.size(), b.size());
    CHECK(p == Approx(permutation_p_value(a, b)).epsilon(1e-12));
    CHECK(p == Approx(smirnov_p_value(brute_distance(a, b), b.size(), a.size())).epsilon(1e-12));
  }
}

TEST_CASE("Ties make the p-value larger, never smaller") {
  Random random(2);
  int larger = 0;
  for (int round = 0; round < 40; ++round) {
    const Draw die = [](Random& r) { return double(r.below(4)); };
    const auto a = draws(2 + random.below(5), random, die);
    const auto b = draws(2 + random.below(6), random, die);
    const double p = smirnov_p_value(brute_distance(a, b), a.size(), b.size());
    const double permuted = permutation_p_value(a, b);
    CHECK(p >= permuted * (1 - 1e-12));
    larger += p > permuted * 1.01 ? 1 : 0;
  }
  CHECK(larger > 0);
}

// The probability of at least this distance, by counting the paths that stay inside, in long
// double.
double counted_p_value(std::uint64_t distance, std::uint64_t m, std::uint64_t n) {
  std::vector<long double> inside(n + 1);
  for (std::uint64_t i = 0; i <= m; ++i) {
    for (std::uint64_t j = 0; j <= n; ++j) {
      const auto apart = std::abs(std::int64_t(i * n) - std::int64_t(j * m));
      // Divided by C(i + n, n) as it goes.
      const long double shrink = static_cast<long double>(i) / static_cast<long double>(i + n);
      const long double from_left = j > 0 ? inside[j - 1] : 0;
      const long double from_below = i > 0 ? inside[j] * shrink : (j == 0 ? 1.0L : 0.0L);
      inside[j] = std::uint64_t(apart) >= distance ? 0 : from_below + from_left;
    }
  }
  return double(1 - inside[n]);
}

TEST_CASE("Beyond the exact sizes the limit is close to the exact p-value, and above it") {
  for (const auto& [m, n] : {std::pair{512, 256},
                             {500, 256},
                             {511, 512},
                             {100, 4096},
                             {512, 4096},
                             {1024, 128},
                             {33, 2048}}) {
    const auto size_m = std::uint64_t(m);
    const auto size_n = std::uint64_t(n);
    REQUIRE(size_m * size_n > 65536);
    for (const double t : {1.2, 1.6, 2.0, 2.4}) {
      const double a = m;
      const double b = n;
      const auto distance = std::uint64_t(t * std::sqrt(a * b * (a + b)));
      CAPTURE(m, n, t);
      const double exact = counted_p_value(distance, size_m, size_n);
      const double limit = smirnov_p_value(distance, size_m, size_n);
      CHECK(limit >= exact);
      CHECK(limit < 3 * exact);
    }
  }
}

TEST_CASE("A look tests the scores since the look before") {
  Random random(3);
  for (int round = 0; round < 20; ++round) {
    const Draw coarse = [](Random& r) { return std::round(4 * r.normal()) / 4; };
    const auto reference = draws(10 + random.below(200), random, coarse);
    DriftAlarm alarm(1e-9);
    alarm.restart(calibration_of(reference));
    std::uint64_t pairs = 0;
    for (const std::uint64_t window : {64, 128, 256, 512, 1024, 2048, 4096, 4096, 4096}) {
      const auto fresh = draws(window, random, coarse);
      CHECK_FALSE(alarm.add(std::span(fresh).first(window - 1)));
      const auto look = alarm.add(fresh.back());
      REQUIRE(look);
      pairs += window;
      CHECK(look->pairs == pairs);
      CHECK(look->p_value ==
            smirnov_p_value(brute_distance(reference, fresh), reference.size(), window));
      const auto k = double(alarm.looks());
      CHECK(look->limit == Approx(1e-9 / (k * (k + 1))));
      CHECK_FALSE(look->is_alarm);
      CHECK(alarm.last_look()->p_value == look->p_value);
    }
  }
}

// How many of `models` raise an alarm, each given `pairs` new scores after a reference of `held`.
int count_alarms(int models, std::size_t held, std::size_t pairs, double alpha, const Draw& before,
                 const Draw& after, std::uint64_t seed) {
  int raised = 0;
  for (int model = 0; model < models; ++model) {
    Random random(seed, std::uint64_t(model));
    DriftAlarm alarm(alpha);
    alarm.restart(calibration_of(draws(held, random, before)));
    for (std::size_t i = 0; i < pairs; ++i) alarm.add(after(random));
    raised += alarm.is_raised() ? 1 : 0;
  }
  return raised;
}

TEST_CASE("Of a stationary stream's models at most a share alpha raise an alarm") {
  const Draw atoms = [](Random& r) {
    return r.uniform() < 0.5 ? 0.25 : std::floor(3 * r.normal());
  };
  const Draw skewed = [](Random& r) { return std::exp(2 * r.normal()); };
  for (const double alpha : {0.01, 0.2}) {
    for (const std::size_t held : {8, 100, 512}) {
      for (const Draw& draw : {Draw(normal), atoms, skewed}) {
        CAPTURE(alpha, held);
        constexpr int kModels = reduced(500);
        const int raised = count_alarms(kModels, held, 2000, alpha, draw, draw, held);
        // Three standard deviations of a binomial count above its mean.
        CHECK(raised <= kModels * alpha + 3 * std::sqrt(kModels * alpha * (1 - alpha)));
      }
    }
  }
}

TEST_CASE(
    "A shift by half a standard deviation is found within 1000 pairs, a change of scale too") {
  const Draw shifted = [](Random& r) { return r.normal() - 0.5; };
  const Draw wider = [](Random& r) { return 2 * r.normal(); };
  CHECK(count_alarms(200, 512, 1000, kDefaultDriftAlpha, normal, shifted, 1) >= 190);
  CHECK(count_alarms(200, 512, 1000, kDefaultDriftAlpha, normal, wider, 2) >= 190);
}

TEST_CASE("A change is found however long nothing changed before") {
  Random random(4);
  DriftAlarm alarm;
  alarm.restart(calibration_of(draws(512, random)));
  alarm.add(draws(200'000, random));
  REQUIRE_FALSE(alarm.is_raised());
  const std::uint64_t before = alarm.last_look()->pairs;
  while (!alarm.is_raised() && alarm.last_look()->pairs < 400'000) {
    alarm.add(random.normal() + 0.5);
  }
  CHECK(alarm.last_look()->pairs - before <= 2 * DriftAlarm::kLargestWindow);
}

TEST_CASE("There is one alarm for a model, and a restart begins anew") {
  Random random(5);
  DriftAlarm alarm;
  const Calibration calibration = calibration_of(draws(300, random));
  alarm.restart(calibration);
  const auto far = draws(5000, random, [](Random& r) { return r.normal() + 3; });
  const auto look = alarm.add(far);
  REQUIRE(look);
  CHECK(look->is_alarm);
  CHECK(look->pairs == DriftAlarm::kFirstWindow);
  CHECK(alarm.is_raised());
  CHECK_FALSE(alarm.add(far));
  CHECK(alarm.looks() == 1);
  alarm.restart(calibration);
  CHECK_FALSE(alarm.is_raised());
  CHECK(alarm.looks() == 0);
  CHECK_FALSE(alarm.last_look());
  REQUIRE(alarm.add(draws(64, random)));
  CHECK_FALSE(alarm.is_raised());
}

TEST_CASE("Scores that are equal but for rounding are no drift") {
  Random random(6);
  for (const double level : {0.0, 1e-30, -2.5, 1e6}) {
    CAPTURE(level);
    DriftAlarm alarm;
    alarm.restart(calibration_of(std::vector<double>(100, level)));
    const Draw bits_off = [level](Random& r) { return level * (1 + 1e-6 * r.normal()); };
    alarm.add(draws(3000, random, bits_off));
    CHECK(alarm.looks() > 4);
    CHECK(alarm.last_look()->p_value == 1);
    alarm.add(std::vector<double>(4096, level + std::max(std::abs(level), 1.0)));
    CHECK(alarm.is_raised());
  }
  // Half of the pairs are the same, and their score comes out a bit higher in larger batches.
  const Draw before = [](Random& r) { return r.uniform() < 0.5 ? 0.7 : r.normal(); };
  const Draw after = [](Random& r) { return r.uniform() < 0.5 ? 0.7 + 1e-7 : r.normal(); };
  CHECK(count_alarms(100, 512, 3000, kDefaultDriftAlpha, before, after, 7) <= 4);
}

TEST_CASE("NaN is ignored, infinities are the ends of the scale") {
  Random random(7);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  DriftAlarm alarm;
  alarm.restart(calibration_of(draws(200, random)));
  alarm.add(std::vector<double>(10'000, nan));
  CHECK(alarm.looks() == 0);
  for (int i = 0; i < 63; ++i) CHECK_FALSE(alarm.add(random.normal()));
  CHECK_FALSE(alarm.add(nan));
  CHECK(alarm.add(random.normal()));
  alarm.add(std::vector<double>(128, std::numeric_limits<double>::infinity()));
  CHECK(alarm.is_raised());
}

TEST_CASE("Without a calibration the alarm never looks") {
  DriftAlarm alarm;
  const std::vector<double> scores(10'000, 1.0);
  CHECK_FALSE(alarm.add(scores));
  alarm.restart(Calibration());
  CHECK_FALSE(alarm.add(scores));
  CHECK(alarm.looks() == 0);
  // One reference score tells nothing: no p-value gets below the limits.
  alarm.restart(calibration_of({0.0}));
  CHECK(alarm.add(scores));
  CHECK_FALSE(alarm.is_raised());
}

TEST_CASE("An alpha that is no share is refused") {
  for (const double alpha : {0.0, 1.0, -0.1, std::nan("")}) {
    CHECK_THROWS_WITH(DriftAlarm(alpha), Catch::Contains("drift alpha: found"));
  }
}

TEST_CASE("Half-way into a window an alarm is read back to the same bits, and goes on the same") {
  Random random(8);
  DriftAlarm alarm(0.05);
  for (const std::size_t pairs : {0, 10, 54, 100, 300, 4000}) {
    if (pairs == 10) alarm.restart(calibration_of(draws(150, random)));
    alarm.add(draws(pairs, random));
    const std::string bytes = serialise(alarm);
    auto again = parse<DriftAlarm>(bytes);
    CHECK(serialise(again) == bytes);
    auto ours = alarm;
    const auto later = draws(9000, random, [](Random& r) { return r.normal() + 1; });
    const auto expected = ours.add(later);
    const auto found = again.add(later);
    REQUIRE(found.has_value() == expected.has_value());
    CHECK(serialise(again) == serialise(ours));
    CHECK(again.is_raised() == ours.is_raised());
  }
}

TEST_CASE("A saved alarm with any byte changed is refused or stays usable") {
  Random random(9);
  DriftAlarm alarm;
  alarm.restart(calibration_of(draws(20, random)));
  alarm.add(draws(100, random));
  const std::string bytes = serialise(alarm);
  const auto payload = unseal(DriftAlarm::kArchiveKind, bytes).rest();
  const auto scores = draws(5000, random);
  int accepted = 0;
  int refused = 0;
  for (std::size_t at = 0; at < payload.size(); ++at) {
    for (const int bits : {0x01, 0x55, 0x80, 0xff}) {
      std::string bent(payload.begin(), payload.end());
      bent[at] = static_cast<char>(bent[at] ^ bits);
      try {
        auto parsed = parse<DriftAlarm>(seal(DriftAlarm::kArchiveKind, bent));
        parsed.add(scores);
        REQUIRE(parsed.last_look());
        CHECK(parsed.last_look()->p_value >= 0);
        CHECK(parsed.last_look()->p_value <= 1);
        ++accepted;
      } catch (const Error&) {
        ++refused;
      }
    }
  }
  CHECK(accepted > 0);
  CHECK(refused > 0);
}

// A stream of pairs of numbers, the first y being the first x and noise.
Learner<float> learn_numbers(std::size_t pairs, Random& random) {
  StreamConfig config;
  config.x = {{ItemKind::kDense, 2}, Kernel::linear(), 0};
  config.y = config.x;
  Learner<float> learner(config);
  for (std::size_t i = 0; i < pairs; ++i) {
    const float x[] = {float(random.normal()), float(random.normal())};
    const float y[] = {x[0] + float(random.normal()), float(random.normal())};
    learner.learn(DenseRows<float>{x, 1, 2}, DenseRows<float>{y, 1, 2}, nullptr, nullptr, nullptr);
  }
  return learner;
}

TEST_CASE("What follows a refresh is compared with the pairs held back at it") {
  int false_alarms = 0;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Random random(10, seed);
    const auto learner = learn_numbers(3000, random);
    EstimatorSpec spec;
    spec.kind = EstimatorKind::kGaussianPmi;
    const auto model = refresh(learner, spec, Learner<float>::Extent::kWithoutHeldBack).model;
    DriftAlarm alarm;
    alarm.restart(model->calibration());
    ScoreScratch<float> scratch;
    const auto go_on = [&](std::size_t pairs, float share) {
      for (std::size_t i = 0; i < pairs; ++i) {
        const float x[] = {float(random.normal()), float(random.normal())};
        const float y[] = {share * x[0] + float(random.normal()), float(random.normal())};
        double score = 0;
        model->score(DenseRows<float>{x, 1, 2}, DenseRows<float>{y, 1, 2}, &score, nullptr,
                     scratch);
        alarm.add(score);
      }
    };
    go_on(4000, 1);
    false_alarms += alarm.is_raised() ? 1 : 0;
    alarm.restart(model->calibration());
    go_on(4000, -1);
    CHECK(alarm.is_raised());
  }
  CHECK(false_alarms <= 2);
}

}  // namespace
}  // namespace phsic::test
