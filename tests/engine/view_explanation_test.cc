#include "engine/view_explanation.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

namespace phsic::test {
namespace {

using Explained = std::vector<std::optional<PairExplanation>>;

ViewedModel blended_by(std::vector<Blend::Part> parts) {
  ViewedModel viewed;
  viewed.names = {"letters", "words"};
  viewed.blend = Blend(std::move(parts));
  return viewed;
}

PairExplanation saying(double score, const std::vector<double>& raise,
                       const std::vector<double>& lower) {
  PairExplanation one;
  one.score = score;
  for (const double contribution : raise) one.raise.push_back({contribution, 0, "", "", ""});
  for (const double contribution : lower) one.lower.push_back({contribution, 0, "", "", ""});
  return one;
}

std::vector<std::string> strongest(const std::vector<PairExplanation::Part>& parts) {
  std::vector<std::string> names;
  for (const auto& part : parts) names.push_back(part.view);
  return names;
}

TEST_CASE("What raises and lowers a blended score is ordered by its share in the whole") {
  const auto viewed = blended_by({{0.5, 1, 1}, {0.5, 2, 10}});
  const Explained views = {saying(3, {1, 2}, {}), saying(12, {12, 8}, {-10})};
  const auto found = blend_explanations(viewed, views, 0b11, 2);
  REQUIRE(found);
  // A random pairing scores 1.5, and a deviation is 5.5.
  CHECK(found->score == Approx(1.5 + 5.5 * 1.5));
  CHECK(found->rest == Approx(1.5 - 5.5 * 0.6));
  // Shares are 5.5 times .5 and .05: contributions of 5.5, 3.3, 2.75 and 2.2.
  CHECK(strongest(found->raise) == std::vector<std::string>{"letters", "words"});
  CHECK(found->raise[1].contribution == Approx(3.3));
  CHECK(found->lower[0].contribution == Approx(-2.75));
  CHECK(found->views[1].standardised == Approx(1));
}

TEST_CASE("A view that finds nothing says so, and the others speak for it") {
  const auto viewed = blended_by({{0.5, 0, 1}, {0.5, 0, 1}});
  const Explained views = {saying(3, {3}, {}), saying(12, {12}, {})};
  const auto found = blend_explanations(viewed, views, 0b01, 5);
  REQUIRE(found);
  CHECK(found->score == 3);
  CHECK(strongest(found->raise) == std::vector<std::string>{"letters"});
  CHECK(std::isnan(found->views[1].score));
  CHECK(found->views[1].problem == "nothing in it that the encoder knows");
  // Where no view that counts finds anything, all of them speak, and say so.
  const auto all = blend_explanations(viewed, views, 0, 5);
  CHECK(all->score == 7.5);
  for (const auto& view : all->views) {
    CHECK(std::isfinite(view.score));
    CHECK(view.problem == "nothing in it that the encoder knows");
  }
}

TEST_CASE("Where no view that counts finds anything the best other one that does is explained") {
  auto viewed = blended_by({{0, 4, 2}, {1, 10, 5}});
  viewed.others = {0};
  const Explained views = {saying(8, {5, 3}, {}), saying(12, {12}, {})};
  const auto found = blend_explanations(viewed, views, 0b01, 5);
  REQUIRE(found);
  CHECK(found->score == 20);
  CHECK(found->views[1].problem == "nothing in it that the encoder knows");
  CHECK(strongest(found->raise) == std::vector<std::string>{"letters", "letters"});
  CHECK(found->rest + found->raise[0].contribution + found->raise[1].contribution == Approx(20));
  // It is not asked where the other one finds something.
  const auto both = blend_explanations(viewed, views, 0b11, 5);
  CHECK(both->score == 12);
  CHECK(strongest(both->raise) == std::vector<std::string>{"words"});
}

TEST_CASE("What cannot be explained is told apart from what cannot be scored") {
  const auto viewed = blended_by({{1, 0, 1}, {0, 0, 1}});
  CHECK_FALSE(blend_explanations(viewed, {std::nullopt, saying(1, {}, {})}, 0b11, 5));
  PairExplanation bad;
  bad.problem = "x: odd";
  const auto found = blend_explanations(viewed, {bad, saying(1, {}, {})}, 0b11, 5);
  REQUIRE(found);
  CHECK(found->problem == "no view that counts can score it");
  CHECK(found->views[0].problem == "x: odd");
  const auto alone = blend_explanations(viewed, {saying(1, {}, {}), std::nullopt}, 0b11, 5);
  CHECK(alone->views[1].problem == "it has no model");
}

}  // namespace
}  // namespace phsic::test
