#include "daemon/serving/score_stage.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <mutex>
#include <span>
#include <utility>

#include "core/calibration.h"
#include "decide/decision.h"
#include "engine/reason.h"
#include "engine/view_scores.h"

namespace phsic {

void ScoreStage::score(WorkerScratch& scratch) {
  scratch.clear();
  try {
    sort_out(scratch);
  } catch (const std::exception& problem) {
    // There is no memory for anything.
    scratch.clear();
    scratch.failed = scratch.taken.slices;
    for (const auto& slice : scratch.failed) completion_.fail(slice, reason(problem));
    return;
  }
  // What cannot be done together is done apart: groups are added meanwhile.
  for (std::size_t k = 0; k < scratch.groups_used; ++k) process(scratch.groups[k], scratch);
}

// Texts into one group and vectors into another; candidates are ranked by themselves.
void ScoreStage::sort_out(WorkerScratch& scratch) {
  auto& texts = scratch.add_group();
  auto& vectors = scratch.add_group();
  for (const auto& slice : scratch.taken.slices) {
    const auto& request = slice.task->request;
    if (request.operation == Operation::kRank) {
      rank(slice, scratch.ranked);
    } else if (request.pairs.are_vectors) {
      vectors.slices.push_back(slice);
    } else if (!request.is_order()) {
      texts.slices.push_back(slice);
    }
  }
}

void ScoreStage::process(Group& group, WorkerScratch& scratch) {
  if (group.slices.empty()) return;
  try {
    if (group.slices.front().task->request.pairs.are_vectors) {
      take_vectors(group, scratch);
    } else {
      encode_texts(group, scratch);
    }
    score_group(group, scratch);
  } catch (const std::exception& problem) {
    const auto slices = std::exchange(group.slices, {});
    for (const auto& slice : slices) {
      // Each for itself: the others must not suffer for what one has sent.
      if (slices.size() > 1 && scratch.has_group_for(slice)) continue;
      scratch.failed.push_back(slice);
      completion_.fail(slice, reason(problem));
    }
    return;
  }
  std::size_t offset = 0;
  for (const auto& slice : group.slices) {
    try {
      take_scores(slice, offset, group.batch);
    } catch (const std::exception& problem) {
      completion_.fail(slice, reason(problem));
    }
    offset += slice.count;
  }
}

void ScoreStage::encode_texts(Group& group, WorkerScratch& scratch) const {
  scratch.x.clear();
  scratch.y.clear();
  for (const auto& [task, first, count] : group.slices) {
    const auto add = [first = first, count = count](const auto& from, auto& to) {
      const auto begin = from.begin() + static_cast<std::ptrdiff_t>(first);
      to.insert(to.end(), begin, begin + static_cast<std::ptrdiff_t>(count));
    };
    add(task->request.pairs.x, scratch.x);
    add(task->request.pairs.y, scratch.y);
  }
  stream_.encode({scratch.x, scratch.y, {}}, group.batch);
}

void ScoreStage::take_vectors(Group& group, WorkerScratch& scratch) const {
  scratch.x_values.clear();
  scratch.y_values.clear();
  std::size_t rows = 0;
  for (const auto& [task, first, count] : group.slices) {
    const auto add = [first = first, count = count](const std::vector<float>& from, std::size_t dim,
                                                    std::vector<float>& to) {
      const auto begin = from.begin() + static_cast<std::ptrdiff_t>(first * dim);
      to.insert(to.end(), begin, begin + static_cast<std::ptrdiff_t>(count * dim));
    };
    const auto& pairs = task->request.pairs;
    add(pairs.x_values, pairs.x_dim, scratch.x_values);
    add(pairs.y_values, pairs.y_dim, scratch.y_values);
    rows += count;
  }
  stream_.take({scratch.x_values.data(), rows, stream_.shape_x().dim},
               {scratch.y_values.data(), rows, stream_.shape_y().dim}, group.batch);
}

// A group that nobody wants scores of is learned only.
void ScoreStage::score_group(Group& group, WorkerScratch& /*scratch*/) {
  const bool is_wanted = std::any_of(group.slices.begin(), group.slices.end(),
                                     [](const Slice& slice) { return slice.task->request.scores; });
  if (is_wanted) {
    stream_.score(group.batch);
  } else {
    group.batch.published = nullptr;
  }
}

void ScoreStage::take_scores(const Slice& slice, std::size_t offset, const Batch& batch) {
  auto& task = *slice.task;
  auto& outcome = task.outcome;
  {
    const std::lock_guard lock(task.mutex);
    for (const auto& problem : batch.problems) {
      if (problem.row < offset || problem.row >= offset + slice.count) continue;
      outcome.problems.push_back({slice.first + problem.row - offset, problem.message});
      ++counters_.problems;
    }
    add_left_out(batch, offset, slice.count, slice.first, outcome.left_out);
    if (batch.published != nullptr) outcome.published = batch.published;
  }
  if (!task.request.scores) return;
  const auto& calibration = batch.published->calibration();
  for (std::size_t i = 0; i < slice.count; ++i) {
    const auto row = slice.first + i;
    const auto score = batch.scores[offset + i];
    outcome.score[row] = score;
    if (!batch.judgements.empty()) outcome.quality[row] = batch.judgements[offset + i].quality;
    if (calibration.is_empty() || std::isnan(score)) continue;
    outcome.percentile[row] = *calibration.percentile(score);
    outcome.p_value[row] = *calibration.p_value(score);
  }
  counters_.scored += slice.count;
  if (task.request.learns) watch(slice, *batch.published);
}

// The drift alarm gets the scores of pairs that no rule has rejected: models are made of such
// pairs.
void ScoreStage::watch(const Slice& slice, const PublishedModel& published) {
  const auto& outcome = slice.task->outcome;
  const std::span<const double> scores(outcome.score);
  const auto last = slice.first + slice.count;
  const auto is_rejected = [&](std::size_t row) { return is_rejection(outcome.reason[row]); };
  for (auto row = slice.first; row < last;) {
    const auto first = row;
    while (row < last && !is_rejected(row)) ++row;
    if (row > first) drift_.add(scores.subspan(first, row - first), published);
    while (row < last && is_rejected(row)) ++row;
  }
}

void ScoreStage::rank(const Slice& slice, Batch& batch) {
  auto& task = *slice.task;
  const auto& pairs = task.request.pairs;
  try {
    if (pairs.are_vectors) {
      stream_.rank({pairs.x_values.data(), 1, pairs.x_dim},
                   {pairs.y_values.data() + slice.first * pairs.y_dim, slice.count, pairs.y_dim},
                   batch);
    } else {
      stream_.rank(pairs.x[0], std::span(pairs.y).subspan(slice.first, slice.count), batch);
    }
    const std::lock_guard lock(task.mutex);
    for (const auto& [row, message] : batch.problems) {
      // What is wrong with x is said once.
      const bool is_of_x = row == PairProblem::kNoRow;
      if (is_of_x && slice.first > 0) continue;
      task.outcome.problems.push_back({is_of_x ? row : slice.first + row, message});
      ++counters_.problems;
    }
    add_left_out(batch, 0, slice.count, slice.first, task.outcome.left_out);
    task.outcome.published = batch.published;
  } catch (const std::exception& problem) {
    completion_.fail(slice, reason(problem));
    return;
  }
  std::copy(batch.scores.begin(), batch.scores.end(),
            task.outcome.score.begin() + static_cast<std::ptrdiff_t>(slice.first));
  counters_.ranked += slice.count;
}

}  // namespace phsic
