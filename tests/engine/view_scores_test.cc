#include "engine/view_scores.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/viewed_model.h"

namespace phsic::test {
namespace {

const double kNoNumber = std::nan("");

std::shared_ptr<const PublishedModel> model_of(std::vector<Blend::Part> parts,
                                               std::vector<std::size_t> others) {
  auto viewed = std::make_shared<ViewedModel>();
  viewed->names = {"letters", "words"};
  viewed->blend = Blend(std::move(parts));
  viewed->others = std::move(others);
  auto published = std::make_shared<PublishedModel>();
  published->viewed = std::move(viewed);
  return published;
}

// A view that finds in each text what is said here, where 0 is nothing, and has given these scores.
Batch view_of(const std::vector<float>& x, const std::vector<float>& y, std::vector<double> scores,
              std::vector<PairProblem> problems = {}) {
  Batch view;
  view.x.take({x.data(), x.size(), 1});
  view.y.take({y.data(), y.size(), 1});
  view.scores = std::move(scores);
  view.usable.assign(y.size(), true);
  for (const auto& problem : problems) {
    if (problem.row != PairProblem::kNoRow) view.usable[problem.row] = false;
  }
  view.problems = std::move(problems);
  return view;
}

constexpr std::uint8_t kBoth = 0b11;

// Of pairs that the views of `asked` have scored.
Batch batch_of(Batch letters, Batch words, std::vector<Blend::Part> parts,
               std::uint8_t asked = kBoth, std::vector<std::size_t> others = {}) {
  Batch batch;
  batch.published = model_of(std::move(parts), std::move(others));
  batch.asked = asked;
  batch.views.push_back(std::move(letters));
  batch.views.push_back(std::move(words));
  return batch;
}

// The same for candidates that both have ranked.
void blend_ranked(Batch& batch, std::size_t candidates) {
  batch.asked = 0;
  batch.seen.assign(candidates, 0);
  for (std::size_t v = 0; v < batch.views.size(); ++v) mark_candidates(v, candidates, batch);
  blend_candidates(batch, candidates);
}

using Said = std::vector<std::string>;

// "row view: message"
Said left_out(const Batch& batch, std::size_t first, std::size_t count, std::size_t as) {
  std::vector<LeftOut> all;
  add_left_out(batch, first, count, as, all);
  Said said;
  for (const auto& [row, view, message] : all) {
    said.push_back(std::to_string(row) + " " + view + ": " + message);
  }
  return said;
}

Said problems(const Batch& batch) {
  Said said;
  for (const auto& [row, message] : batch.problems) {
    const bool is_of_x = row == PairProblem::kNoRow;
    said.push_back((is_of_x ? "x" : std::to_string(row)) + ": " + message);
  }
  return said;
}

const std::string kNothing(kNothingKnown);
// A random pairing scores 0, and a deviation is 1.5.
const std::vector<Blend::Part> kAlike = {{0.5, 0, 1}, {0.5, 0, 2}};

TEST_CASE("A pair is scored by the views that find something in it, or else by all that count") {
  auto batch = batch_of(view_of({1, 1, 1, 0}, {1, 1, 1, 1}, {1, 2, 3, 4}),
                        view_of({1, 0, 1, 0}, {1, 1, 0, 1}, {20, 40, 60, 80}), kAlike);
  mark_seen(batch);
  CHECK(batch.seen == std::vector<std::uint8_t>{0b11, 0b01, 0b01, 0});
  CHECK(batch.readable == std::vector<std::uint8_t>(4, 0b11));
  blend_scores(batch);
  CHECK(batch.scores == std::vector<double>{8.25, 3, 4.5, 33});
  CHECK(batch.problems.empty());
  CHECK(left_out(batch, 0, 3, 0) == Said{"1 words: " + kNothing, "2 words: " + kNothing});
  // As parts of a batch are told.
  CHECK(left_out(batch, 2, 1, 100) == Said{"100 words: " + kNothing});
  CHECK(left_out(batch, 3, 1, 7) == Said{"7 letters: " + kNothing, "7 words: " + kNothing});
}

TEST_CASE("What one view cannot read is no problem of the pair, and what none can read is") {
  auto batch = batch_of(
      view_of({1, 0, 0}, {1, 1, 1}, {1, kNoNumber, kNoNumber}, {{1, "x: long"}, {2, "x: longer"}}),
      view_of({1, 1, 0}, {1, 1, 1}, {2, 4, kNoNumber}, {{2, "x: odd"}}), kAlike);
  mark_seen(batch);
  CHECK(batch.readable == std::vector<std::uint8_t>{0b11, 0b10, 0});
  CHECK(batch.usable == std::vector<bool>{true, true, false});
  CHECK(problems(batch) == Said{"2: x: longer"});
  blend_scores(batch);
  CHECK(batch.scores[0] == 1.5);
  CHECK(batch.scores[1] == 3);
  CHECK(std::isnan(batch.scores[2]));
  CHECK(problems(batch) == Said{"2: x: longer"});
  CHECK(left_out(batch, 0, 3, 0) == Said{"1 letters: x: long"});
}

TEST_CASE("A view that does not count is not missed") {
  auto batch = batch_of(view_of({1, 1}, {1, 1}, {1, kNoNumber}, {{1, "y: long"}}),
                        view_of({0, 1}, {1, 1}, {7, 7}), {{1, 0, 1}, {0, 0, 1}}, 0b01);
  mark_seen(batch);
  blend_scores(batch);
  CHECK(batch.scores[0] == 1);
  // The one that counts cannot read it, and the other was not asked.
  CHECK(problems(batch) == Said{"1: y: long"});
  CHECK(left_out(batch, 0, 2, 0).empty());
}

TEST_CASE(
    "Candidates are blended as pairs are, and a bad x is told of the view that cannot read it") {
  auto batch = batch_of(
      view_of({0}, {1, 1, 1}, {kNoNumber, kNoNumber, kNoNumber}, {{PairProblem::kNoRow, "odd"}}),
      view_of({1}, {1, 0, 1}, {2, 4, kNoNumber}, {{2, "too long"}}), kAlike);
  blend_ranked(batch, 3);
  CHECK(batch.scores[0] == 1.5);
  CHECK(batch.scores[1] == 3);
  CHECK(std::isnan(batch.scores[2]));
  CHECK(problems(batch) == Said{"2: too long"});
  CHECK(left_out(batch, 0, 3, 0) ==
        Said{"0 letters: odd", "1 letters: odd", "1 words: " + kNothing});
  batch.views[1].problems = {{PairProblem::kNoRow, "odder"}};
  batch.views[1].scores.assign(3, kNoNumber);
  blend_ranked(batch, 3);
  CHECK(problems(batch) == Said{"x: odd"});
  CHECK(std::isnan(batch.scores[0]));
  CHECK(left_out(batch, 0, 3, 0).empty());
}

TEST_CASE("Where no view that counts finds anything the others are asked, the best first") {
  // The second view counts alone. It finds something in the first pair, and cannot read the last.
  auto batch = batch_of(
      view_of({1, 1, 0, 1, 1}, {1, 1, 1, 1, 1}, {6, 8, 3, kNoNumber, 10}),
      view_of({1, 0, 0, 0, 1}, {1, 1, 1, 1, 1}, {20, 40, 60, 80, kNoNumber}, {{4, "x: odd"}}),
      {{0, 4, 2}, {1, 10, 5}}, 0b10, {0});
  mark_seen(batch);
  const std::vector<bool> open = {false, true, true, true, true};
  for (std::size_t i = 0; i < 5; ++i) CHECK(is_open(batch, i) == open[i]);
  batch.asked = kBoth;
  for (std::size_t i = 0; i < 5; ++i) CHECK(is_open(batch, i) == (i == 2 || i == 3));
  blend_scores(batch);
  // Two deviations above its mean are two of those of the view that counts; where it does not
  // find anything either, or has no score, that of the other is what there is.
  CHECK(batch.scores == std::vector<double>{20, 20, 60, 80, 25});
  CHECK(left_out(batch, 0, 5, 0) == Said{"1 words: " + kNothing, "2 words: " + kNothing,
                                         "3 words: " + kNothing, "4 words: x: odd"});
  CHECK(batch.problems.empty());
}

TEST_CASE("Candidates whose x no view that counts can read are ranked by the others") {
  auto batch =
      batch_of(view_of({1}, {1, 0}, {6, 8}),
               view_of({0}, {1, 1}, {kNoNumber, kNoNumber}, {{PairProblem::kNoRow, "odd"}}),
               {{0, 4, 2}, {1, 10, 5}}, 0, {0});
  blend_ranked(batch, 2);
  CHECK(batch.scores[0] == 15);
  CHECK(std::isnan(batch.scores[1]));
  CHECK(problems(batch) == Said{"1: odd"});
  CHECK(left_out(batch, 0, 2, 0) == Said{"0 words: odd"});
}

TEST_CASE("Where no view counts every pair that can be read scores 0") {
  auto batch = batch_of(view_of({1, 0, 1}, {1, 1, 1}, {3, 3, kNoNumber}, {{2, "x: odd"}}),
                        view_of({1, 1, 1}, {1, 1, 1}, {3, 3, kNoNumber}, {{2, "x: odd"}}),
                        {{0, 0, 1}, {0, 0, 1}});
  mark_seen(batch);
  blend_scores(batch);
  CHECK(batch.scores[0] == 0);
  CHECK(batch.scores[1] == 0);
  CHECK(std::isnan(batch.scores[2]));
  CHECK(batch.unasked.empty());
}

TEST_CASE("Where no view counts a candidate is bad only if no view can read it") {
  auto batch =
      batch_of(view_of({1}, {1, 1}, {kNoNumber, kNoNumber}, {{0, "odd"}, {1, "odd"}}),
               view_of({1}, {1, 1}, {0, kNoNumber}, {{1, "long"}}), {{0, 0, 1}, {0, 0, 1}});
  blend_ranked(batch, 2);
  CHECK(batch.scores[0] == 0);
  CHECK(std::isnan(batch.scores[1]));
  CHECK(problems(batch) == Said{"1: odd"});
}

}  // namespace
}  // namespace phsic::test
