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

std::shared_ptr<const PublishedModel> model_of(std::vector<Blend::Part> parts) {
  auto viewed = std::make_shared<ViewedModel>();
  viewed->names = {"letters", "words"};
  viewed->blend = Blend(std::move(parts));
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

Batch batch_of(Batch letters, Batch words, std::vector<Blend::Part> parts) {
  Batch batch;
  batch.published = model_of(std::move(parts));
  batch.views.push_back(std::move(letters));
  batch.views.push_back(std::move(words));
  return batch;
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

TEST_CASE("A pair is scored by the views that find something in it, or else by all") {
  auto batch = batch_of(view_of({1, 1, 1, 0}, {1, 1, 1, 1}, {1, 2, 3, 4}),
                        view_of({1, 0, 1, 0}, {1, 1, 0, 1}, {20, 40, 60, 80}), kAlike);
  mark_seen(batch);
  CHECK(batch.seen == std::vector<std::uint8_t>{0b11, 0b01, 0b01, 0});
  CHECK(batch.readable == std::vector<std::uint8_t>(4, 0b11));
  blend_scores(batch);
  CHECK(batch.scores == std::vector<double>{8.25, 3, 4.5, 33});
  CHECK(batch.problems.empty());
  CHECK(left_out(batch, 0, 4, 0) == Said{"1 words: " + kNothing, "2 words: " + kNothing});
  // As parts of a batch are told.
  CHECK(left_out(batch, 2, 2, 100) == Said{"100 words: " + kNothing});
  CHECK(left_out(batch, 3, 1, 100).empty());
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
                        view_of({0, 1}, {1, 1}, {7, 7}), {{1, 0, 1}, {0, 0, 1}});
  mark_seen(batch);
  blend_scores(batch);
  CHECK(batch.scores[0] == 1);
  // The one that counts cannot read it, though another can.
  CHECK(problems(batch) == Said{"1: y: long"});
  CHECK(left_out(batch, 0, 2, 0).empty());
}

TEST_CASE(
    "Candidates are blended as pairs are, and a bad x is told of the view that cannot read it") {
  auto batch = batch_of(
      view_of({0}, {1, 1, 1}, {kNoNumber, kNoNumber, kNoNumber}, {{PairProblem::kNoRow, "odd"}}),
      view_of({1}, {1, 0, 1}, {2, 4, kNoNumber}, {{2, "too long"}}), kAlike);
  blend_candidates(batch, 3);
  CHECK(batch.scores[0] == 1.5);
  CHECK(batch.scores[1] == 3);
  CHECK(std::isnan(batch.scores[2]));
  CHECK(problems(batch) == Said{"2: too long"});
  CHECK(left_out(batch, 0, 3, 0) == Said{"0 letters: odd"});
  batch.views[1].problems = {{PairProblem::kNoRow, "odder"}};
  batch.views[1].scores.assign(3, kNoNumber);
  blend_candidates(batch, 3);
  CHECK(problems(batch) == Said{"x: odder"});
  CHECK(std::isnan(batch.scores[0]));
  CHECK(left_out(batch, 0, 3, 0).empty());
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
  blend_candidates(batch, 2);
  CHECK(batch.scores[0] == 0);
  CHECK(std::isnan(batch.scores[1]));
  CHECK(problems(batch) == Said{"1: odd"});
}

}  // namespace
}  // namespace phsic::test
