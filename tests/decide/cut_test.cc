#include "decide/cut.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "core/random.h"

namespace phsic {
namespace {

using Kind = CutSpec::Kind;
constexpr double kAll = -std::numeric_limits<double>::infinity();
constexpr double kNothing = std::numeric_limits<double>::infinity();

// With `levels` > 0 scores are rounded to so many values a unit, so that many are alike.
std::vector<double> scores_about(double mean, std::size_t count, double levels, Random& random) {
  std::vector<double> scores(count);
  for (double& score : scores) {
    score = mean + random.normal();
    if (levels > 0) score = std::round(score * levels) / levels;
  }
  return scores;
}

Calibration random_calibration(Random& random, double levels) {
  const std::size_t n = 1 + random.below(60);
  auto matched = scores_about(2, n, levels, random);
  return {std::move(matched), scores_about(0, 1 + random.below(9 * n), levels, random)};
}

// Every score of the calibration, the doubles next to it, and the ends.
std::vector<double> telling_scores(const Calibration& calibration) {
  std::vector<double> scores = {-1e308, 0.0, -0.0, 1e308, -1e-310, 1e-310};
  for (const auto* known : {&calibration.matched(), &calibration.null()}) {
    for (const double score : *known) {
      scores.insert(scores.end(),
                    {std::nextafter(score, kAll), score, std::nextafter(score, kNothing)});
    }
  }
  return scores;
}

double choose(const CutSpec& spec, const Calibration& calibration, double rejected = 0) {
  const auto cut = CutPolicy(spec).choose(calibration, rejected);
  REQUIRE(cut);
  return *cut;
}

double share_from(const std::vector<double>& scores, double cut) {
  const auto kept = std::count_if(scores.begin(), scores.end(), [&](double s) { return s >= cut; });
  return double(kept) / double(scores.size());
}

CutPolicy settled(const CutSpec& spec, const Calibration& calibration) {
  CutPolicy policy(spec);
  static_cast<void>(policy.choose(calibration, 0));
  return policy;
}

std::string bytes_of(const CutPolicy& policy) {
  Writer writer;
  policy.save(writer);
  return writer.bytes();
}

}  // namespace

TEST_CASE("No cut keeps every score, and a raw score is the cut itself") {
  for (const auto& calibration : {Calibration(), Calibration({1, 2}, {0, 1})}) {
    CHECK(choose({Kind::kNone, 0}, calibration) == kAll);
    CHECK(choose({Kind::kScore, -3.5}, calibration) == -3.5);
  }
}

TEST_CASE("All other cuts wait for a calibration") {
  for (const Kind kind : {Kind::kKeep, Kind::kP, Kind::kFdr, Kind::kPercentile}) {
    CHECK_FALSE(CutPolicy({kind, 0.5}).choose(Calibration(), 0));
    CHECK_FALSE(CutPolicy({kind, 0.5}).choose(Calibration({1, 2}, {}), 0));
  }
}

TEST_CASE("A score is kept exactly if its p-value or percentile is what was asked for") {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Random random(seed);
    const Calibration calibration = random_calibration(random, double(seed % 3));
    std::vector<double> values = {random.uniform(), random.uniform(), 0.0, 1.0, 0.5};
    // Values that some scores have to the bit.
    values.push_back(*calibration.p_value(calibration.null()[0]));
    values.push_back(*calibration.p_value(calibration.matched()[0]));
    values.push_back(*calibration.percentile(calibration.matched()[0]));
    for (const double value : values) {
      CAPTURE(seed, value);
      const auto by_p = CutPolicy({Kind::kP, value}).choose(calibration, 0);
      const double by_percentile = choose({Kind::kPercentile, value}, calibration);
      for (const double score : telling_scores(calibration)) {
        const double limit = std::max(value, *calibration.p_value(kNothing));
        REQUIRE((score >= *by_p) == (*calibration.p_value(score) <= limit));
        REQUIRE((score >= by_percentile) == (*calibration.percentile(score) >= value));
      }
    }
  }
}

TEST_CASE("A p-value that no score can reach counts as the smallest that one can") {
  const Calibration calibration({1, 2, 3}, {0, 1, 2});
  CHECK(choose({Kind::kP, 0.2}, calibration) == std::nextafter(2.0, 3.0));
  CHECK(choose({Kind::kP, 0.25}, calibration) == std::nextafter(2.0, 3.0));
  CHECK(choose({Kind::kP, 1}, calibration) == kAll);
}

TEST_CASE("Who asks for less gets no higher cut") {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Random random(seed, 1);
    const Calibration calibration = random_calibration(random, double(seed % 3));
    const double low = random.uniform();
    const double high = low + (1 - low) * random.uniform();
    CAPTURE(seed, low, high);
    for (const Kind kind : {Kind::kKeep, Kind::kFdr}) {
      CHECK(choose({kind, high}, calibration) <= choose({kind, low}, calibration));
    }
    const auto strict = CutPolicy({Kind::kP, low}).choose(calibration, 0);
    CHECK((!strict || choose({Kind::kP, high}, calibration) <= *strict));
    CHECK(choose({Kind::kPercentile, high}, calibration) >=
          choose({Kind::kPercentile, low}, calibration));
    // What rules took away need not be taken away again.
    CHECK(choose({Kind::kKeep, low}, calibration, high) <= choose({Kind::kKeep, low}, calibration));
  }
}

TEST_CASE("A share of all pairs is kept, those that rules rejected included") {
  Random random(3);
  const auto fresh = scores_about(2, 20000, 0, random);
  for (const double keep : {0.1, 0.5, 0.67, 0.9}) {
    for (const double rejected : {0.0, 0.05, 0.3}) {
      CAPTURE(keep, rejected);
      const Calibration calibration(scores_about(2, 512, 0, random), {0});
      const double kept =
          (1 - rejected) * share_from(fresh, choose({Kind::kKeep, keep}, calibration, rejected));
      CHECK(kept == Approx(std::min(keep, 1 - rejected)).margin(4 * std::sqrt(0.25 / 512)));
    }
  }
  const Calibration calibration({1, 2, 3}, {0});
  CHECK(choose({Kind::kKeep, 0.5}, calibration, 0.5) == kAll);
  CHECK(choose({Kind::kKeep, 0.5}, calibration, 1) == kAll);
  CHECK(choose({Kind::kKeep, 1}, calibration) == kAll);
}

TEST_CASE("Model after model of a stationary stream keeps the share that was asked for") {
  Random random(11);
  CutPolicy policy({Kind::kKeep, 0.67});
  double scale = 1;
  double mean = 0;
  for (int model = 0; model < 40; ++model) {
    scale *= random.uniform() < 0.5 ? 0.5 : 2;  // the scale of scores is the model's own
    auto matched = scores_about(2, 512, 0, random);
    auto fresh = scores_about(2, 2000, 0, random);
    for (double& score : matched) score *= scale;
    for (double& score : fresh) score *= scale;
    const double rejected = 0.1 + 0.01 * random.normal();
    const auto cut = policy.choose(Calibration(std::move(matched), {0}), rejected);
    REQUIRE(cut);
    const double kept = 0.9 * share_from(fresh, *cut);
    CHECK(kept == Approx(0.67).margin(0.09));  // four errors of 512, 2,000 and hysteresis
    mean += kept / 40;
  }
  CHECK(mean == Approx(0.67).margin(0.025));
}

TEST_CASE("The cut for a rate is the calibration's threshold") {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Random random(seed, 2);
    const Calibration calibration = random_calibration(random, double(seed % 3));
    for (const double rate : {0.01, 0.1, 0.5}) {
      CAPTURE(seed, rate);
      CHECK(choose({Kind::kFdr, rate}, calibration) ==
            calibration.threshold(rate).value_or(kNothing));
    }
  }
}

TEST_CASE("A wish that changes by less than its error leaves the share kept as it is") {
  Random random(5);
  const Calibration first(scores_about(2, 400, 0, random), {0});
  const Calibration second(scores_about(9, 400, 0, random), {0});
  // The error of .5 of 400 is .025. The wish becomes 1 - .5 / (1 - rejected).
  for (const double rejected : {0.0, 0.01, 0.045}) {
    CutPolicy policy = settled({Kind::kKeep, 0.5}, first);
    CHECK(*policy.choose(second, rejected) == choose({Kind::kPercentile, 0.5}, second));
    CHECK(policy == settled({Kind::kKeep, 0.5}, first));
  }
  CutPolicy policy = settled({Kind::kKeep, 0.5}, first);
  CHECK(*policy.choose(second, 0.06) == choose({Kind::kKeep, 0.5}, second, 0.06));
  CHECK_FALSE(policy == settled({Kind::kKeep, 0.5}, first));
}

TEST_CASE("A rate that asks for a stricter cut gets it at once, for a laxer one beyond its error") {
  Random random(6);
  bool is_stricter_seen = false;
  bool is_kept_seen = false;
  for (int i = 0; i < 60; ++i) {
    const auto one = [&] {
      return Calibration(scores_about(1, 200, 0, random), scores_about(0, 1800, 0, random));
    };
    const Calibration first = one();
    const Calibration second = one();
    const CutSpec spec{Kind::kFdr, 0.3};
    const auto place = [](const Calibration& of, double cut) { return *of.percentile(cut); };
    const double before = place(first, choose(spec, first));
    const double wanted = place(second, choose(spec, second));
    CutPolicy policy = settled(spec, first);
    const double after = place(second, *policy.choose(second, 0));
    CAPTURE(i, before, wanted, after);
    CHECK(after >= wanted);
    if (wanted > before) CHECK(after == wanted);
    is_stricter_seen = is_stricter_seen || wanted > before;
    is_kept_seen = is_kept_seen || after > wanted;
  }
  CHECK(is_stricter_seen);
  CHECK(is_kept_seen);
}

TEST_CASE("Choosing again changes nothing") {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Random random(seed, 3);
    for (const Kind kind : {Kind::kKeep, Kind::kFdr, Kind::kP, Kind::kPercentile}) {
      CutPolicy policy({kind, 0.05 + 0.9 * random.uniform()});
      for (int model = 0; model < 4; ++model) {
        CAPTURE(seed, model);
        const Calibration calibration = random_calibration(random, double(seed % 3));
        const double rejected = 0.2 * random.uniform();
        const auto cut = policy.choose(calibration, rejected);
        const CutPolicy once = policy;
        CHECK(policy.choose(calibration, rejected) == cut);
        CHECK(policy == once);
      }
    }
  }
}

TEST_CASE("Another wish forgets what was remembered") {
  const Calibration calibration({1, 2, 3, 4}, {0});
  CutPolicy policy = settled({Kind::kKeep, 0.5}, calibration);
  policy.set_spec({Kind::kKeep, 0.6});
  CHECK(policy == CutPolicy({Kind::kKeep, 0.6}));
}

TEST_CASE("What a cut remembers survives saving, for the same wish only") {
  const Calibration calibration({1, 2, 3, 4}, {0});
  const CutPolicy policy = settled({Kind::kKeep, 0.5}, calibration);
  const std::string bytes = bytes_of(policy);
  CutPolicy loaded({Kind::kKeep, 0.5});
  Reader reader(bytes);
  loaded.load(reader);
  reader.finish();
  CHECK(loaded == policy);
  CHECK_FALSE(loaded == CutPolicy({Kind::kKeep, 0.5}));
  CutPolicy other({Kind::kFdr, 0.5});
  Reader again(bytes);
  other.load(again);
  CHECK(other == CutPolicy({Kind::kFdr, 0.5}));
}

TEST_CASE("Bytes that no cut wrote are refused and change nothing") {
  const CutPolicy policy = settled({Kind::kKeep, 0.5}, Calibration({1, 2, 3, 4}, {0}));
  const std::string bytes = bytes_of(policy);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    CutPolicy loaded = policy;
    Reader reader(std::span<const char>(bytes.data(), size));
    CHECK_THROWS_AS(loaded.load(reader), Error);
    CHECK(loaded == policy);
  }
  for (std::size_t i = 0; i < bytes.size() * 8; ++i) {
    std::string damaged = bytes;
    damaged[i / 8] = static_cast<char>(damaged[i / 8] ^ (1 << (i % 8)));
    CutPolicy loaded = policy;
    Reader reader(damaged);
    try {
      loaded.load(reader);
      const double cut = *loaded.choose(Calibration({1, 2, 3, 4}, {0}), 0);
      CHECK_FALSE(std::isnan(cut));
    } catch (const Error&) {
      CHECK(loaded == policy);
    }
  }
  const auto refused = [&](double percentile) {
    Writer writer;
    writer.number(Kind::kKeep);
    writer.number(0.5);
    writer.number<std::uint8_t>(1);
    writer.number(percentile);
    CutPolicy loaded = policy;
    Reader reader(writer.bytes());
    CHECK_THROWS_AS(loaded.load(reader), Error);
  };
  for (const double percentile : {-0.1, 1.1, kNothing, std::nan("")}) refused(percentile);
}

}  // namespace phsic
