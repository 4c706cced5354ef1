#include "engine/view_scores.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "engine/viewed_model.h"

namespace phsic {
namespace {

constexpr double kNoScore = std::numeric_limits<double>::quiet_NaN();

// Has the encoder found nothing in a text?
bool is_nothing(const Items<float>& items, std::size_t row) {
  if (const auto* sparse = std::get_if<SparseRows<float>>(&items)) {
    return sparse->start[row] == sparse->start[row + 1];
  }
  const auto* dense = std::get_if<DenseRows<float>>(&items);
  return dense != nullptr && std::all_of(dense->row(row), dense->row(row) + dense->dim,
                                         [](float value) { return value == 0; });
}

// Null: nothing is wrong with the row.
const PairProblem* problem_at(const std::vector<PairProblem>& problems, std::size_t row) {
  const auto found =
      std::lower_bound(problems.begin(), problems.end(), row,
                       [](const PairProblem& problem, std::size_t r) { return problem.row < r; });
  return found != problems.end() && found->row == row ? &*found : nullptr;
}

void mark_view(const Batch& view, std::uint8_t bit, Batch& batch) {
  const auto x = view.x.view();
  const auto y = view.y.view();
  auto problem = view.problems.begin();
  for (std::size_t i = 0; i < view.size(); ++i) {
    if (view.usable[i]) batch.usable[i] = true;
    if (problem != view.problems.end() && problem->row == i) {
      ++problem;
      continue;
    }
    batch.readable[i] |= bit;
    if (finds_something(x, i, y, i)) batch.seen[i] |= bit;
  }
}

void forget_unasked(std::size_t row, Batch& batch) {
  while (!batch.unasked.empty() && batch.unasked.back().row == row) batch.unasked.pop_back();
}

bool is_asked(const Batch& batch, std::size_t view) { return (batch.asked & bit_of(view)) != 0; }

// NaN where the view finds nothing in the row or cannot score it.
double seen_score(const Batch& batch, std::size_t view, std::size_t row) {
  const bool is_seen = (batch.seen[row] & bit_of(view)) != 0;
  return is_asked(batch, view) && is_seen ? batch.views[view].scores[row] : kNoScore;
}

// NaN if none of the views asked can score the row.
double blend_row(std::size_t row, Batch& batch) {
  const auto& viewed = *batch.published->viewed;
  const auto& blend = viewed.blend;
  const auto views = blend.parts().size();
  std::array<double, kMostViews> scores{};
  for (std::size_t v = 0; v < views; ++v) {
    scores[v] = kNoScore;
    if (blend.parts()[v].weight == 0) continue;
    scores[v] = seen_score(batch, v, row);
    if (std::isnan(scores[v])) batch.unasked.push_back({row, v});
  }
  const double score = blend.score(scores.data());
  if (!std::isnan(score)) return score;
  for (const auto v : viewed.others) {
    if (const double other = seen_score(batch, v, row); !std::isnan(other)) {
      return blend.score_by(v, other);
    }
  }
  // What nobody finds anything in is scored as it is.
  for (std::size_t v = 0; v < views; ++v) {
    if (blend.parts()[v].weight > 0) scores[v] = batch.views[v].scores[row];
  }
  const double whole = blend.score(scores.data());
  if (std::isnan(whole)) forget_unasked(row, batch);
  return whole;
}

// Why none of the views asked can score the row; candidates have a problem of their x, too.
std::string problem_of(const Batch& batch, std::size_t row) {
  for (const auto place : {row, PairProblem::kNoRow}) {
    for (std::size_t v = 0; v < batch.views.size(); ++v) {
      if (!is_asked(batch, v)) continue;
      if (const auto* problem = problem_at(batch.views[v].problems, place)) return problem->message;
    }
  }
  return "no view that counts can score it";
}

// What is wrong with the x of candidates where no view asked can read it, else null.
const PairProblem* problem_of_x(const Batch& batch) {
  const PairProblem* of_x = nullptr;
  for (std::size_t v = 0; v < batch.views.size(); ++v) {
    if (!is_asked(batch, v)) continue;
    const auto* problem = problem_at(batch.views[v].problems, PairProblem::kNoRow);
    if (problem == nullptr) return nullptr;
    if (of_x == nullptr) of_x = problem;
  }
  return of_x;
}

// Has any view asked scored the row?
bool is_scored(const Batch& batch, std::size_t row) {
  for (std::size_t v = 0; v < batch.views.size(); ++v) {
    if (is_asked(batch, v) && !std::isnan(batch.views[v].scores[row])) return true;
  }
  return false;
}

}  // namespace

std::string_view why_unasked(const Batch& view, std::size_t row) {
  if (const auto* problem = problem_at(view.problems, row)) return problem->message;
  if (const auto* problem = problem_at(view.problems, PairProblem::kNoRow)) return problem->message;
  return kNothingKnown;
}

bool finds_something(const Items<float>& x, std::size_t i, const Items<float>& y, std::size_t j) {
  return !is_nothing(x, i) && !is_nothing(y, j);
}

void mark_seen(Batch& batch) {
  batch.seen.assign(batch.size(), 0);
  batch.readable.assign(batch.size(), 0);
  batch.usable.assign(batch.size(), false);
  for (std::size_t v = 0; v < batch.views.size(); ++v) {
    mark_view(batch.views[v], bit_of(v), batch);
  }
  batch.problems.clear();
  for (const auto& problem : batch.views.front().problems) {
    if (batch.readable[problem.row] == 0) batch.problems.push_back(problem);
  }
}

void mark_candidates(std::size_t view, std::size_t candidates, Batch& batch) {
  const auto& ranked = batch.views[view];
  batch.asked |= bit_of(view);
  batch.seen.resize(candidates, 0);
  if (problem_at(ranked.problems, PairProblem::kNoRow) != nullptr) return;
  const auto x = ranked.x.view();
  const auto y = ranked.y.view();
  for (std::size_t j = 0; j < candidates; ++j) {
    if (finds_something(x, 0, y, j)) batch.seen[j] |= bit_of(view);
  }
}

bool is_open(const Batch& batch, std::size_t row) {
  for (std::size_t v = 0; v < batch.views.size(); ++v) {
    if (!std::isnan(seen_score(batch, v, row))) return false;
  }
  return true;
}

void blend_scores(Batch& batch) {
  const bool has_say = batch.published->viewed->has_say();
  auto known = std::exchange(batch.problems, {});
  auto next = known.begin();
  batch.scores.resize(batch.size());
  batch.unasked.clear();
  for (std::size_t i = 0; i < batch.size(); ++i) {
    if (next != known.end() && next->row == i) {
      batch.scores[i] = kNoScore;
      batch.problems.push_back(std::move(*next++));
      continue;
    }
    batch.scores[i] = has_say ? blend_row(i, batch) : 0;
    if (std::isnan(batch.scores[i])) batch.problems.push_back({i, problem_of(batch, i)});
  }
}

void blend_candidates(Batch& batch, std::size_t candidates) {
  const bool has_say = batch.published->viewed->has_say();
  batch.problems.clear();
  batch.unasked.clear();
  batch.scores.assign(candidates, kNoScore);
  if (const auto* of_x = problem_of_x(batch)) {
    batch.problems.push_back(*of_x);
    return;
  }
  for (std::size_t j = 0; j < candidates; ++j) {
    if (has_say) {
      batch.scores[j] = blend_row(j, batch);
    } else if (is_scored(batch, j)) {
      batch.scores[j] = 0;
    }
    if (std::isnan(batch.scores[j])) batch.problems.push_back({j, problem_of(batch, j)});
  }
}

void add_left_out(const Batch& batch, std::size_t first, std::size_t count, std::size_t as,
                  std::vector<LeftOut>& to) {
  const auto begin =
      std::lower_bound(batch.unasked.begin(), batch.unasked.end(), first,
                       [](const Batch::Unasked& one, std::size_t row) { return one.row < row; });
  for (auto one = begin; one != batch.unasked.end() && one->row < first + count; ++one) {
    to.push_back({as + one->row - first, batch.published->viewed->names[one->view],
                  std::string(why_unasked(batch.views[one->view], one->row))});
  }
}

}  // namespace phsic
