// The workers of a lane: encode, score, hand on to the learner, answer.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "daemon/lane.h"
#include "daemon/reply.h"
#include "daemon/workbench.h"

namespace phsic {
namespace {

// Encoded and scored at once, at most, or one pair: who comes next waits for all of it.
constexpr std::uint64_t kBatchBytes = 1U << 20U;

}  // namespace

void Lane::work() {
  Workbench bench;
  while (queue_.take(bench.taken, {batch_pairs_, kBatchBytes})) {
    process(bench.taken, bench);
    if (wants_way_.exchange(false)) outlet_.make_way(*this);
  }
  if (--workers_left_ == 0) intake_.close();
}

bool Lane::score_here(const std::shared_ptr<Job>& job) {
  if (job->operation != Operation::kScore || job->learns || !job->pairs.are_vectors ||
      queue_.depth().pairs > 0 ||
      !is_quick(job->pairs.size(), stream_->release()->multiply_adds())) {
    return false;
  }
  make_ready(*job);
  own_bench_->clear();
  auto& group = own_bench_->add_group();
  group.slices.push_back({job, 0, job->pairs.size()});
  score_group(group, *own_bench_);
  own_bench_->clear();
  complete(*job);
  return true;
}

void Lane::process(FairQueue::Taken& taken, Workbench& bench) {
  bench.clear();
  auto& texts = bench.add_group();
  auto& vectors = bench.add_group();
  for (const auto& slice : taken.slices) {
    const auto operation = slice.job->operation;
    if (operation == Operation::kRank) {
      rank(slice, bench.ranked);
    } else if (slice.job->pairs.are_vectors) {
      vectors.slices.push_back(slice);
    } else if (operation != Operation::kRefresh && operation != Operation::kSnapshot) {
      texts.slices.push_back(slice);
    }
  }
  std::unique_lock<std::mutex> learning;
  if (ledger_ != nullptr && stream_->learns_one_by_one()) learning = std::unique_lock(one_by_one_);
  score_group(texts, bench);
  score_group(vectors, bench);
  if (taken.learns) teach(taken, bench);
  if (learning) learning.unlock();
  // Slices go with the last that was done with them.
  for (const auto& slice : taken.slices) finish_rows(slice);
  taken.slices.clear();
  bench.clear();
}

void Lane::score_group(Group& group, Workbench& bench) {
  if (group.slices.empty()) return;
  try {
    if (group.slices.front().job->pairs.are_vectors) {
      take_vectors(group, bench);
    } else {
      encode_texts(group, bench);
    }
    score_batch(group.slices, group.batch, bench);
  } catch (const std::exception& problem) {
    const auto slices = std::exchange(group.slices, {});
    if (slices.size() == 1) {
      fail(slices, problem.what());
      return;
    }
    // Each for itself: the others must not suffer for what one has sent.
    for (const auto& slice : slices) {
      auto& alone = bench.add_group();
      alone.slices.push_back(slice);
      score_group(alone, bench);
    }
  }
}

void Lane::encode_texts(Group& group, Workbench& bench) const {
  bench.x.clear();
  bench.y.clear();
  for (const auto& [job, first, count] : group.slices) {
    const auto add = [first = first, count = count](const auto& from, auto& to) {
      const auto begin = from.begin() + static_cast<std::ptrdiff_t>(first);
      to.insert(to.end(), begin, begin + static_cast<std::ptrdiff_t>(count));
    };
    add(job->pairs.x, bench.x);
    add(job->pairs.y, bench.y);
  }
  stream_->encode({bench.x, bench.y, {}}, group.batch);
}

void Lane::take_vectors(Group& group, Workbench& bench) const {
  bench.x_values.clear();
  bench.y_values.clear();
  std::size_t rows = 0;
  for (const auto& [job, first, count] : group.slices) {
    const auto add = [first = first, count = count](const std::vector<float>& from, std::size_t dim,
                                                    std::vector<float>& to) {
      const auto begin = from.begin() + static_cast<std::ptrdiff_t>(first * dim);
      to.insert(to.end(), begin, begin + static_cast<std::ptrdiff_t>(count * dim));
    };
    add(job->pairs.x_values, job->pairs.x_dim, bench.x_values);
    add(job->pairs.y_values, job->pairs.y_dim, bench.y_values);
    rows += count;
  }
  stream_->take({bench.x_values.data(), rows, stream_->shape_x().dim},
                {bench.y_values.data(), rows, stream_->shape_y().dim}, group.batch);
}

// Scores a batch for those who want scores; a batch nobody wants scores of is learned only.
void Lane::score_batch(const std::vector<Slice>& slices, Batch& batch, Workbench& bench) {
  const bool wanted = std::any_of(slices.begin(), slices.end(),
                                  [](const Slice& slice) { return slice.job->scores; });
  if (stream_->learns_one_by_one()) {
    score_one_by_one(slices, batch, bench);
  } else if (wanted) {
    stream_->score(batch);
  } else {
    batch.release = nullptr;
  }
  std::size_t offset = 0;
  for (const auto& slice : slices) {
    take_scores(slice, offset, batch);
    offset += slice.count;
  }
}

// Where the counts are the model, the pairs of those who teach are learned as they are scored.
void Lane::score_one_by_one(const std::vector<Slice>& slices, Batch& batch, Workbench& bench) {
  bench.times.clear();
  std::size_t row = 0;
  std::size_t learned = 0;
  for (const auto& [job, first, count] : slices) {
    for (std::size_t i = first; i < first + count; ++i, ++row) {
      bench.times.push_back(time_of(*job, i));
      refused_ += job->learns && !batch.usable[row] ? 1 : 0;
      if (!job->learns) batch.usable[row] = false;
      if (batch.usable[row] && !intake_.is_first(id_of(*job, i))) {
        batch.usable[row] = false;
        ++job->duplicates;
        ++duplicates_;
      }
      learned += batch.usable[row] ? 1 : 0;
      if (batch.usable[row]) ++job->learned;
    }
    if (job->learns) unlearned_ -= count;
  }
  stream_->score_and_learn(batch, bench.times.data());
  learned_ += learned;
}

double Lane::time_of(const Job& job, std::size_t i) {
  const bool has_time = !job.pairs.times.empty() && !std::isnan(job.pairs.times[i]);
  return has_time ? job.pairs.times[i] : job.arrival_time;
}

IdHash Lane::id_of(const Job& job, std::size_t i) {
  const bool has_id = !job.pairs.ids.empty() && !job.pairs.ids[i].empty();
  return has_id ? hash_id(job.pairs.ids[i]) : kNoId;
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
    if (batch.release != nullptr) job.release = batch.release;
  }
  if (!job.scores) return;
  const auto& calibration = batch.release->calibration();
  for (std::size_t i = 0; i < slice.count; ++i) {
    const auto row = slice.first + i;
    const auto score = batch.scores[offset + i];
    job.score[row] = score;
    if (calibration.is_empty() || std::isnan(score)) continue;
    job.percentile[row] = *calibration.percentile(score);
    job.p_value[row] = *calibration.p_value(score);
  }
  scored_ += slice.count;
  if (job.learns) watch_for_drift(slice, *batch.release);
}

void Lane::watch_for_drift(const Slice& slice, const Release& release) {
  const std::lock_guard lock(drift_mutex_);
  if (release.number != drift_model_) {
    // A model of all pairs was calibrated before it was built.
    drift_.restart(release.is_whole ? Calibration() : release.calibration());
    drift_model_ = release.number;
  }
  const auto look =
      drift_.add(std::span<const double>(slice.job->score).subspan(slice.first, slice.count));
  if (!look) return;
  drift_p_value_ = look->p_value;
  if (!look->is_alarm) return;
  ++drifts_;
  outlet_.announce(*this, fmt::format("\"event\":\"drift\",\"p_value\":{:.6g},\"pairs\":{},"
                                      "\"model\":{},\"epoch\":{}}}",
                                      look->p_value, look->pairs, release.number, release.epoch()));
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
  } catch (const std::exception& problem) {
    fail({slice}, problem.what());
    return;
  }
  std::copy(batch.scores.begin(), batch.scores.end(),
            job.score.begin() + static_cast<std::ptrdiff_t>(slice.first));
  ranked_ += slice.count;
  const std::lock_guard lock(job.mutex);
  job.release = batch.release;
  for (const auto& [row, message] : batch.problems) {
    // What is wrong with x is said once.
    if (row == Stream::kNoRow && slice.first > 0) continue;
    ++problems_;
    job.problems.push_back({row == Stream::kNoRow ? row : slice.first + row, message});
  }
}

void Lane::fail(const std::vector<Slice>& slices, const std::string& message) {
  for (const auto& [job, first, count] : slices) {
    const std::lock_guard lock(job->mutex);
    if (!job->error) ++failed_;
    job->error.emplace("failed", message);
    if (job->release == nullptr) job->release = stream_->release();
    for (std::size_t i = first; i < first + count; ++i) job->problems.push_back({i, message});
    if (job->learns) unlearned_ -= count;
  }
  announce_failure(message);
}

// Hands what is usable to the learner, in the order in which it was taken. Even when there is
// nothing: the next one waits for this turn.
void Lane::teach(FairQueue::Taken& taken, Workbench& bench) {
  // What was learned as it was scored is only noted down.
  const bool is_learned = stream_->learns_one_by_one();
  Intake::Turn turn(intake_, taken.ticket);
  const auto add = [&](const std::vector<Slice>& slices, const Batch& batch) {
    std::size_t row = 0;
    for (const auto& [job, first, count] : slices) {
      if (!job->learns) {
        row += count;
        continue;
      }
      const auto& pairs = job->pairs;
      std::size_t accepted = is_learned ? 0 : count;
      for (std::size_t i = first; i < first + count; ++i, ++row) {
        if (!batch.usable[row]) continue;
        const auto id = id_of(*job, i);
        if (!is_learned && !turn.is_first(id)) {
          ++job->duplicates;
          ++duplicates_;
          --unlearned_;
          --accepted;
          continue;
        }
        is_learned ? ++accepted : ++job->learned;
        turn.add(batch, row, time_of(*job, i), pairs.are_vectors ? nullptr : &pairs.x[i],
                 pairs.are_vectors ? nullptr : &pairs.y[i], id);
      }
      turn.count(accepted);
    }
  };
  for (std::size_t k = 0; k < bench.groups_used && (!is_learned || ledger_ != nullptr); ++k) {
    add(bench.groups[k].slices, bench.groups[k].batch);
  }
  for (const auto& slice : taken.slices) {
    const auto& job = slice.job;
    const bool is_last = slice.first + slice.count == job->pairs.size();
    const bool is_order =
        job->operation == Operation::kRefresh || job->operation == Operation::kSnapshot;
    if (is_order || ((job->waits || job->durable) && is_last)) {
      // The learner answers, when it has come so far.
      ++job->rows_left;
      turn.mark(job);
    }
  }
}

void Lane::finish_rows(const Slice& slice) {
  const auto rows = std::max<std::size_t>(1, slice.count);
  if (slice.job->rows_left.fetch_sub(rows) == rows) finish(slice.job);
}

void Lane::finish(const std::shared_ptr<Job>& job) {
  complete(*job);
  outlet_.deliver(job);
}

// Writes what is to be sent.
void Lane::complete(Job& job) {
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
    append_release(*stream_->release(), job.reply);
    fmt::format_to(std::back_inserter(job.reply), ",\"pairs\":{}}}", learned_.load());
  } else if (job.operation == Operation::kSnapshot && !job.error) {
    begin_reply(job.id, job.reply);
    fmt::format_to(std::back_inserter(job.reply), ",\"pairs\":{},\"bytes\":{}}}",
                   job.snapshot_pairs, job.snapshot_bytes);
  } else {
    write_scores(job, room());
  }
}

// Until the next model; none where there are no models.
std::optional<std::size_t> Lane::room() const {
  const auto room = room_.load();
  if (room == SIZE_MAX) return std::nullopt;
  const auto unlearned = unlearned_.load();
  return room > unlearned ? room - unlearned : 1;
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
