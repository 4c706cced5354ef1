// The workers of a lane: encode, score, hand on to the learner, answer.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <new>
#include <utility>

#include "daemon/serving/lane.h"
#include "daemon/serving/worker_scratch.h"
#include "engine/reason.h"
#include "wire/answer_writer.h"

namespace phsic {
namespace {

// Encoded and scored at once, at most, or one pair: who comes next waits for all of it.
constexpr std::uint64_t kBatchBytes = 1U << 20U;

}  // namespace

void Lane::work() {
  WorkerScratch scratch;
  // No slice is without a row, but for orders.
  scratch.taken.slices.reserve(batch_pairs_);
  while (queue_.take(scratch.taken, {batch_pairs_, kBatchBytes})) {
    process(scratch.taken, scratch);
    if (wants_way_.exchange(false)) listener_.make_way(*this);
  }
  if (--workers_left_ == 0) learn_queue_.close();
}

bool Lane::score_here(const std::shared_ptr<Job>& job) {
  if (job->operation != Operation::kScore || job->learns || !job->pairs.are_vectors ||
      queue_.depth().pairs > 0 ||
      !is_quick(job->pairs.size(), stream_->published()->multiply_adds())) {
    return false;
  }
  make_ready(*job);
  own_scratch_->clear();
  auto& group = own_scratch_->add_group();
  group.slices.push_back({job, 0, job->pairs.size()});
  score_group(group, *own_scratch_);
  own_scratch_->clear();
  complete(*job);
  return true;
}

void Lane::process(FairQueue::Taken& taken, WorkerScratch& scratch) {
  std::unique_lock<std::mutex> learning;
  if (journal_ != nullptr && (stream_->counter() != nullptr))
    learning = std::unique_lock(one_by_one_);
  try {
    score(taken, scratch);
  } catch (const std::exception& problem) {
    // There is no memory for anything. What was learned as it was scored stays in the drafts.
    for (auto& group : scratch.groups) group.slices.clear();
    for (const auto& slice : taken.slices) fail(slice, reason(problem));
  }
  if (taken.learns) teach(taken, scratch);
  if (learning) learning.unlock();
  for (const auto& slice : taken.slices) {
    if (slice.job->learns) backlog_.remove({slice.count, 0});
  }
  // Slices go with the last that was done with them.
  for (const auto& slice : taken.slices) finish_rows(slice);
  taken.slices.clear();
  scratch.clear();
}

void Lane::score(const FairQueue::Taken& taken, WorkerScratch& scratch) {
  scratch.clear();
  auto& texts = scratch.add_group();
  auto& vectors = scratch.add_group();
  for (const auto& slice : taken.slices) {
    const auto operation = slice.job->operation;
    if (operation == Operation::kRank) {
      rank(slice, scratch.ranked);
    } else if (slice.job->pairs.are_vectors) {
      vectors.slices.push_back(slice);
    } else if (operation != Operation::kRefresh && operation != Operation::kSnapshot) {
      texts.slices.push_back(slice);
    }
  }
  score_group(texts, scratch);
  score_group(vectors, scratch);
}

void Lane::score_group(Group& group, WorkerScratch& scratch) {
  if (group.slices.empty()) return;
  try {
    if (group.slices.front().job->pairs.are_vectors) {
      take_vectors(group, scratch);
    } else {
      encode_texts(group, scratch);
    }
    score_batch(group.slices, group.batch, scratch);
  } catch (const std::exception& problem) {
    const auto slices = std::exchange(group.slices, {});
    if (slices.size() == 1) {
      fail(slices.front(), reason(problem));
      return;
    }
    // Each for itself: the others must not suffer for what one has sent.
    for (const auto& slice : slices) {
      auto& alone = scratch.add_group();
      alone.slices.push_back(slice);
      score_group(alone, scratch);
    }
    return;
  }
  std::size_t offset = 0;
  for (const auto& slice : group.slices) {
    try {
      take_scores(slice, offset, group.batch);
    } catch (const std::exception& problem) {
      fail(slice, reason(problem));
    }
    offset += slice.count;
  }
}

void Lane::encode_texts(Group& group, WorkerScratch& scratch) const {
  scratch.x.clear();
  scratch.y.clear();
  for (const auto& [job, first, count] : group.slices) {
    const auto add = [first = first, count = count](const auto& from, auto& to) {
      const auto begin = from.begin() + static_cast<std::ptrdiff_t>(first);
      to.insert(to.end(), begin, begin + static_cast<std::ptrdiff_t>(count));
    };
    add(job->pairs.x, scratch.x);
    add(job->pairs.y, scratch.y);
  }
  stream_->encode({scratch.x, scratch.y, {}}, group.batch);
}

void Lane::take_vectors(Group& group, WorkerScratch& scratch) const {
  scratch.x_values.clear();
  scratch.y_values.clear();
  std::size_t rows = 0;
  for (const auto& [job, first, count] : group.slices) {
    const auto add = [first = first, count = count](const std::vector<float>& from, std::size_t dim,
                                                    std::vector<float>& to) {
      const auto begin = from.begin() + static_cast<std::ptrdiff_t>(first * dim);
      to.insert(to.end(), begin, begin + static_cast<std::ptrdiff_t>(count * dim));
    };
    add(job->pairs.x_values, job->pairs.x_dim, scratch.x_values);
    add(job->pairs.y_values, job->pairs.y_dim, scratch.y_values);
    rows += count;
  }
  stream_->take({scratch.x_values.data(), rows, stream_->shape_x().dim},
                {scratch.y_values.data(), rows, stream_->shape_y().dim}, group.batch);
}

// Scores a batch for those who want scores; a batch nobody wants scores of is learned only.
void Lane::score_batch(const std::vector<Slice>& slices, Batch& batch, WorkerScratch& scratch) {
  const bool wanted = std::any_of(slices.begin(), slices.end(),
                                  [](const Slice& slice) { return slice.job->scores; });
  if (stream_->counter() != nullptr) {
    score_one_by_one(slices, batch, scratch);
  } else if (wanted) {
    stream_->score(batch);
  } else {
    batch.published = nullptr;
  }
}

void Lane::take_scores(const Slice& slice, std::size_t offset, const Batch& batch) {
  Job& job = *slice.job;
  {
    const std::lock_guard lock(job.mutex);
    for (const auto& problem : batch.problems) {
      if (problem.row < offset || problem.row >= offset + slice.count) continue;
      job.problems.push_back({slice.first + problem.row - offset, problem.message});
      ++problems_;
    }
    if (batch.published != nullptr) job.published = batch.published;
  }
  if (!job.scores) return;
  const auto& calibration = batch.published->calibration();
  for (std::size_t i = 0; i < slice.count; ++i) {
    const auto row = slice.first + i;
    const auto score = batch.scores[offset + i];
    job.score[row] = score;
    if (calibration.is_empty() || std::isnan(score)) continue;
    job.percentile[row] = *calibration.percentile(score);
    job.p_value[row] = *calibration.p_value(score);
  }
  scored_ += slice.count;
  if (job.learns) watch_for_drift(slice, *batch.published);
}

void Lane::watch_for_drift(const Slice& slice, const PublishedModel& published) {
  const std::lock_guard lock(drift_mutex_);
  if (published.number != drift_model_) {
    // A model of all pairs was calibrated before it was built.
    drift_.restart(published.is_whole ? Calibration() : published.calibration());
    drift_model_ = published.number;
  }
  const auto look =
      drift_.add(std::span<const double>(slice.job->score).subspan(slice.first, slice.count));
  if (!look) return;
  drift_p_value_ = look->p_value;
  if (!look->is_alarm) return;
  ++drifts_;
  listener_.announce(*this,
                     fmt::format("\"event\":\"drift\",\"p_value\":{:.6g},\"pairs\":{},"
                                 "\"model\":{},\"epoch\":{}}}",
                                 look->p_value, look->pairs, published.number, published.epoch()));
}

void Lane::rank(const Slice& slice, Batch& batch) {
  Job& job = *slice.job;
  const auto& pairs = job.pairs;
  try {
    if (pairs.are_vectors) {
      stream_->rank({pairs.x_values.data(), 1, pairs.x_dim},
                    {pairs.y_values.data() + slice.first * pairs.y_dim, slice.count, pairs.y_dim},
                    batch);
    } else {
      stream_->rank(pairs.x[0], std::span(pairs.y).subspan(slice.first, slice.count), batch);
    }
    const std::lock_guard lock(job.mutex);
    for (const auto& [row, message] : batch.problems) {
      // What is wrong with x is said once.
      if (row == PairProblem::kNoRow && slice.first > 0) continue;
      job.problems.push_back({row == PairProblem::kNoRow ? row : slice.first + row, message});
      ++problems_;
    }
    job.published = batch.published;
  } catch (const std::exception& problem) {
    fail(slice, reason(problem));
    return;
  }
  std::copy(batch.scores.begin(), batch.scores.end(),
            job.score.begin() + static_cast<std::ptrdiff_t>(slice.first));
  ranked_ += slice.count;
}

// The rows get no scores, and the job an error. Works without memory, too.
void Lane::fail(const Slice& slice, const char* message) {
  Job& job = *slice.job;
  {
    const std::lock_guard lock(job.mutex);
    if (!job.error && !job.is_hopeless) ++failed_;
    if (job.published == nullptr) job.published = stream_->published();
    try {
      job.error.emplace("failed", message);
      for (std::size_t i = 0; i < slice.count; ++i) {
        job.problems.push_back({slice.first + i, message});
      }
    } catch (const std::bad_alloc&) {
      job.is_hopeless = true;
    }
  }
  announce_failure(message);
}

void Lane::finish_rows(const Slice& slice) {
  const auto rows = std::max<std::size_t>(1, slice.count);
  if (slice.job->rows_left.fetch_sub(rows) == rows) finish(slice.job);
}

void Lane::finish(const std::shared_ptr<Job>& job) {
  try {
    complete(*job);
  } catch (const std::bad_alloc&) {
    give_up(*job);
  }
  hand_back(job);
}

// There is no memory for the answer: the request goes, and makes room for a short one.
void Lane::give_up(Job& job) {
  job.pairs = {};
  for (auto* values : {&job.score, &job.percentile, &job.p_value}) {
    std::vector<double>().swap(*values);
  }
  std::vector<PairProblem>().swap(job.problems);
  std::vector<std::size_t>().swap(job.feed_ends);
  std::string().swap(job.feed);
  job.flagged.clear();
  if (!job.client.empty()) {
    job.reply = error_reply(job.id, "failed", reason(std::bad_alloc()));
  }
}

// The lane is done with it. Any thread.
void Lane::hand_back(const std::shared_ptr<Job>& job) {
  if (job->charged > 0) backlog_.remove({0, std::exchange(job->charged, 0)});
  const bool is_wanted = wants_way_.exchange(false);
  listener_.deliver(job);
  if (is_wanted) listener_.make_way(*this);
}

// Writes what is to be sent.
void Lane::complete(Job& job) {
  if (job.is_hopeless) throw std::bad_alloc();
  // Workers have added them in any order.
  std::stable_sort(job.problems.begin(), job.problems.end(),
                   [](const auto& a, const auto& b) { return a.row < b.row; });
  // Pairs that the encoder failed on, too: the feed has a message for each.
  const bool has_feed = job.operation == Operation::kScore;
  if (has_feed) mark_flagged(job);
  if (has_feed && (feeds_scores_ || feeds_flags_)) write_feed(job);
  if (job.client.empty()) return;
  if (job.operation == Operation::kRefresh && !job.error) {
    begin_reply(job.id, job.reply);
    job.reply += ',';
    append_published(*stream_->published(), job.reply);
    fmt::format_to(std::back_inserter(job.reply), ",\"pairs\":{}}}", learned_.load());
  } else if (job.operation == Operation::kSnapshot && !job.error) {
    begin_reply(job.id, job.reply);
    fmt::format_to(std::back_inserter(job.reply), ",\"pairs\":{},\"bytes\":{}}}",
                   job.snapshot_pairs, job.snapshot_bytes);
  } else {
    write_scores(job, until_refresh());
  }
}

// Until the next model; none where there are no models.
std::optional<std::size_t> Lane::until_refresh() const {
  const auto left = until_refresh_.load();
  if (left == SIZE_MAX) return std::nullopt;
  const auto unlearned = backlog_.waiting().pairs;
  return left > unlearned ? left - unlearned : 1;
}

void Lane::write_feed(Job& job) const {
  const double delay = std::chrono::duration<double>(Clock::now() - job.arrived).count();
  append_feed(job, feed_texts_, delay);
}

void Lane::mark_flagged(Job& job) {
  job.flagged.resize(job.pairs.size());
  for (std::size_t i = 0; i < job.pairs.size(); ++i) {
    job.flagged[i] = is_flagged(job.p_value[i], flag_p_value_);
    if (job.flagged[i]) ++flagged_;
  }
}

}  // namespace phsic
