#include "core/blend.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "core/random.h"

namespace phsic::test {
namespace {

constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t kPairs = 400;
constexpr std::size_t kOthers = 20;

// Scores in which matched pairs stand `lead` above exchanged ones, at some scale.
Trial trial_of(double lead, std::uint64_t seed, double scale = 1, double middle = 0) {
  Random random(seed);
  Trial trial;
  trial.shuffles = kOthers;
  for (std::size_t i = 0; i < kPairs; ++i) {
    trial.matched.push_back(middle + scale * (lead + random.normal()));
    for (std::size_t k = 0; k < kOthers; ++k) {
      trial.null.push_back(middle + scale * random.normal());
    }
  }
  return trial;
}

Trial constant_trial(double value) {
  return {std::vector<double>(kPairs, value), std::vector<double>(kPairs * kOthers, value),
          kOthers};
}

std::vector<double> weights_of(const Blend& blend) {
  std::vector<double> weights;
  for (const auto& part : blend.parts()) weights.push_back(part.weight);
  return weights;
}

double auc_of(const Trial& trial) { return area_under_curve(trial.matched, trial.null); }

TEST_CASE("Two views that help both count, whatever their scales, and tell more than either") {
  const std::vector<Trial> trials = {trial_of(1.2, 1, 1000, -300), trial_of(1.2, 2, 0.01)};
  const auto blend = choose_blend(trials, nullptr);
  for (const double weight : weights_of(blend)) {
    CHECK(weight > 0.2);
    CHECK(weight < 0.8);
  }
  const double both = auc_of(blend.trial(trials));
  CHECK(both > auc_of(trials[0]) + 0.03);
  CHECK(both > auc_of(trials[1]) + 0.03);
}

TEST_CASE("A view that does not help gets no weight") {
  struct Case {
    const char* what;
    Trial useless;
  };
  const Case cases[] = {{"constant", constant_trial(7)},
                        {"never seen", constant_trial(kNothing)},
                        {"against all sense", trial_of(-2, 3)}};
  for (const auto& [what, useless] : cases) {
    CAPTURE(what);
    const std::vector<Trial> trials = {useless, trial_of(1.5, 4)};
    CHECK(weights_of(choose_blend(trials, nullptr)) == std::vector<double>{0, 1});
  }
}

TEST_CASE("A view of noise costs next to nothing") {
  int counted = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const std::vector<Trial> trials = {trial_of(0, 100 + seed), trial_of(1.5, 200 + seed)};
    const auto blend = choose_blend(trials, nullptr);
    counted += blend.parts()[0].weight > 0 ? 1 : 0;
    const std::vector<Trial> fresh = {trial_of(0, 300 + seed), trial_of(1.5, 400 + seed)};
    CHECK(auc_of(blend.trial(fresh)) > auc_of(fresh[1]) - 0.02);
  }
  CHECK(counted < 10);
}

TEST_CASE("Exchanged pairs score as those views do that count, as much as they count") {
  for (const double lead : {0.0, 1.5}) {
    CAPTURE(lead);
    const std::vector<Trial> trials = {trial_of(lead, 5, 100, 7), trial_of(1.5, 6, 3, 2)};
    const auto blend = choose_blend(trials, nullptr);
    double middle = 0;
    for (std::size_t v = 0; v < trials.size(); ++v) {
      double sum = 0;
      for (const double score : trials[v].null) sum += blend.standardised(v, score);
      CHECK(sum / static_cast<double>(trials[v].null.size()) == Approx(0).margin(1e-9));
      middle += blend.parts()[v].weight * blend.parts()[v].mean;
    }
    CHECK(blend.middle() == Approx(middle));
    double sum = 0;
    for (const double score : blend.trial(trials).null) sum += score;
    CHECK(sum / (kPairs * kOthers) == Approx(middle));
  }
}

TEST_CASE("The order of views makes no difference") {
  const auto a = trial_of(1.2, 6);
  const auto b = trial_of(0.9, 7);
  const auto forth = weights_of(choose_blend(std::vector<Trial>{a, b}, nullptr));
  const auto back = weights_of(choose_blend(std::vector<Trial>{b, a}, nullptr));
  CHECK(forth[0] == Approx(back[1]));
  CHECK(forth[1] == Approx(back[0]));
}

TEST_CASE("Weights stay as they were unless others are clearly better") {
  const std::vector<Trial> trials = {trial_of(1.2, 8), trial_of(1.2, 9)};
  const Blend before({{0.45, 0, 1}, {0.55, 0, 1}});
  const auto kept = weights_of(choose_blend(trials, &before));
  CHECK(kept[0] == Approx(0.45));
  CHECK(kept[1] == Approx(0.55));
  const Blend poor({{0.02, 0, 1}, {0.98, 0, 1}});
  CHECK(choose_blend(trials, &poor).parts()[0].weight > 0.2);
  // Of other views there is nothing to keep.
  const Blend other({{1, 0, 1}});
  CHECK(choose_blend(trials, &other) == choose_blend(trials, nullptr));
}

TEST_CASE("A pair is blended from the views that see it") {
  const Blend blend({{0.25, 10, 2}, {0.75, 0, 4}, {0, 0, 1}});
  // Random pairings score 2.5, and a deviation is 3.5.
  const std::vector<double> both = {16, 8, kNothing};
  CHECK(blend.score(both.data()) == Approx(2.5 + 3.5 * (0.25 * 3 + 0.75 * 2)));
  const std::vector<double> first = {14, kNothing, 5};
  CHECK(blend.score(first.data()) == Approx(2.5 + 3.5 * 2));
  const std::vector<double> none = {kNothing, kNothing, 5};
  CHECK(std::isnan(blend.score(none.data())));
  // The same from shares, as explanations need it.
  const std::vector<bool> seen = {true, true, false};
  CHECK(blend.rest_of(seen) + blend.share_of(0, seen) * 16 + blend.share_of(1, seen) * 8 ==
        Approx(blend.score(both.data())));
}

TEST_CASE("The score of a view that alone counts is its own, to the last bit") {
  const Blend blend({{0, 7, 3}, {1, 0.3, 0.7}, {0, 0, 0}});
  const std::vector<bool> seen = {true, true, true};
  for (const double own : {0.0, 0.1, -3.3, 1e-17}) {
    const std::vector<double> scores = {5, own, 6};
    CHECK(blend.score(scores.data()) == own);
    CHECK(blend.rest_of(seen) + blend.share_of(1, seen) * own == own);
  }
  CHECK(blend.share_of(0, seen) == 0);
  CHECK(blend.share_of(2, seen) == 0);
  const std::vector<double> unseen = {5, kNothing, 6};
  CHECK(std::isnan(blend.score(unseen.data())));
}

TEST_CASE("A blend that was saved is the same, and a damaged one is refused") {
  const Blend blend({{0.25, 10, 2}, {0.75, -1, 4}, {0, 3, 1}, {0, 0, 0}});
  CHECK(parse<Blend>(serialise(blend)) == blend);
  Writer negative;
  negative.number<std::uint64_t>(1);
  for (const double value : {0.5, 0.0, -1.0}) negative.number(value);
  Reader reader(negative.bytes());
  CHECK_THROWS_WITH(Blend::load(reader), Catch::Contains("positive number"));
  Writer endless;
  endless.number<std::uint64_t>(UINT64_MAX / 8);
  Reader short_reader(endless.bytes());
  CHECK_THROWS_WITH(Blend::load(short_reader), Catch::Contains("cannot be all there"));
}

}  // namespace
}  // namespace phsic::test
