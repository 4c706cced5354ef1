// The learner of a lane: learns in order, has models built, brings them into use.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "daemon/serving/lane.h"
#include "engine/reason.h"
#include "wire/answer_writer.h"

namespace phsic {
namespace {

// Pairs learned before the learner looks whether a model is there.
constexpr std::size_t kPiece = 256;

// REQUIRES: dense items.
std::span<const float> row_of(const Items<float>& items, std::size_t i) {
  const auto& rows = std::get<DenseRows<float>>(items);
  return {rows.row(i), rows.dim};
}

}  // namespace

void Lane::run_learner() {
  LearnQueue::Blocks blocks;
  while (learn_queue_.take(blocks, next_look())) {
    if (const auto pairs = refresh_pairs_.load(); stream_->refresh_every(pairs) && journal_) {
      journal_->refresh_every(pairs);
    }
    learn_blocks(blocks);
    if (built_) end_refresh();
    refresh_by_time();
    snapshot_if_due();
  }
  while (refresh_ != nullptr) {
    built_.wait(false);
    finish_refresh();
    start_requested();
  }
  end_keeping();
  {
    const std::lock_guard lock(background_mutex_);
    background_closed_ = true;
  }
  background_filled_.notify_one();
}

Lane::Clock::time_point Lane::next_look() const {
  const auto refresh = next_refresh();
  // Who builds a model or writes a snapshot wakes the learner afterwards.
  if (journal_ == nullptr || refresh_ != nullptr || snapshotting_) return refresh;
  return std::min(refresh, journal_->due_at());
}

Lane::Clock::time_point Lane::next_refresh() const {
  const double seconds = refresh_seconds_;
  if (seconds <= 0 || refresh_ != nullptr || learned_ == learned_at_refresh_ ||
      !stream_->is_measurable()) {
    return Clock::now() + std::chrono::hours(1);
  }
  return last_refresh_ +
         std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

void Lane::refresh_by_time() {
  if (refresh_ == nullptr && Clock::now() >= next_refresh()) {
    start_refresh(Stream::Extent::kWithoutHeldBack);
  }
}

void Lane::learn_blocks(LearnQueue::Blocks& blocks) {
  for (auto& block : blocks) learn_block(block);
  learn_queue_.give_back(blocks);
  if (wants_way_.exchange(false)) listener_.make_way(*this);
}

void Lane::learn_block(LearnQueue::Block& block) {
  if (wants_way_.exchange(false)) listener_.make_way(*this);
  std::size_t row = 0;
  for (const auto& marker : block.markers) {
    learn_rows(block, row, marker.row);
    row = marker.row;
    pass_marker(marker.job);
  }
  learn_rows(block, row, block.size());
  ask_state_writer();
}

void Lane::learn_rows(LearnQueue::Block& block, std::size_t first, std::size_t last) {
  if (stream_->counter() != nullptr) {
    note_rows(block, first, last);
    return;
  }
  while (first < last) {
    const auto done = learn_piece(block, first, std::min(kPiece, last - first));
    note_rows(block, first, first + done);
    first += done;
    until_refresh_ = stream_->until_refresh();
    if (wants_way_.exchange(false)) listener_.make_way(*this);
    if (built_) end_refresh();
    if (stream_->until_refresh() == 0 && refresh_ == nullptr) {
      start_refresh(Stream::Extent::kWithoutHeldBack);
    }
  }
}

// Learns up to `count` rows, and returns how many.
std::size_t Lane::learn_piece(LearnQueue::Block& block, std::size_t first, std::size_t count) {
  batch_x_.clear();
  batch_y_.clear();
  for (std::size_t i = first; i < first + count; ++i) {
    const auto [x, y] = block.texts(i);
    batch_x_.push_back(x);
    batch_y_.push_back(y);
  }
  LearnBatch learn_batch;
  learn_batch.x = slice(block.x.view(), first, count);
  learn_batch.y = slice(block.y.view(), first, count);
  learn_batch.times = block.times.data() + first;
  learn_batch.x_texts = batch_x_.data();
  learn_batch.y_texts = batch_y_.data();
  // A refresh that is due waits for the one on its way.
  const auto before = stream_->pairs();
  const auto done = stream_->learn(learn_batch, 0, refresh_ == nullptr);
  const auto learned = stream_->pairs() - before;
  learned_ += learned;
  clipped_ = stream_->clipped();
  refused_ += done - learned;
  learn_queue_.note_learned(block, done);
  return done;
}

// Into the journal.
void Lane::note_rows(const LearnQueue::Block& block, std::size_t first, std::size_t last) {
  if (journal_ == nullptr) return;
  for (std::size_t i = first; i < last; ++i) {
    if (block.are_vectors[i]) {
      journal_->add(row_of(block.x.view(), i), row_of(block.y.view(), i), block.times[i],
                    block.ids[i]);
    } else {
      const auto [x, y] = block.texts(i);
      journal_->add(x, y, block.times[i], block.ids[i]);
    }
  }
}

// Everything before it has been learned.
void Lane::pass_marker(const std::shared_ptr<Job>& job) {
  if (job->operation == Operation::kSnapshot) {
    to_snapshot_.push_back(job);
    return;
  }
  if (job->operation == Operation::kRefresh) {
    refresh_requests_.add(job);
    start_requested();
  } else if (refresh_ != nullptr && job->waits) {
    after_refresh_.push_back(job);
  } else {
    settle(job, {});
  }
}

// A model of what was learned so far, for all who wait for one. The others of them wait for this.
void Lane::start_requested() {
  while (refresh_ == nullptr && !refresh_requests_.is_empty()) {
    const auto group = refresh_requests_.take();
    const auto error = start_refresh(group.extent);
    if (refresh_ != nullptr) {
      after_refresh_.insert(after_refresh_.end(), group.jobs.begin(), group.jobs.end());
    } else {
      for (const auto& job : group.jobs) settle(job, error);
    }
  }
}

// Returns what went wrong, if anything. None is begun then, or where there are no models.
std::string Lane::start_refresh(Stream::Extent extent) {
  std::string error;
  try {
    refresh_ = stream_->freeze(extent);
  } catch (const std::exception& problem) {
    error = reason(problem);
  }
  last_refresh_ = Clock::now();
  learned_at_refresh_ = learned_;
  until_refresh_ = stream_->until_refresh();
  if (refresh_ != nullptr) {
    if (journal_ != nullptr) journal_->freeze(extent);
    build_in_background();
  } else if (!error.empty()) {
    // The next one is due as if this one had been built: the journal has to tell.
    if (journal_ != nullptr) {
      journal_->freeze(extent);
      journal_->abandon();
    }
    ++refreshes_;
    ++failed_;
    announce_failure(fmt::format("no model was built: {}", error));
  }
  return error;
}

void Lane::build_in_background() {
  in_background([this] {
    refresh_error_.clear();
    try {
      refresh_->build();
    } catch (const std::exception& problem) {
      refresh_error_ = reason(problem);
    }
    built_ = true;
    built_.notify_one();
    learn_queue_.wake();
  });
}

// A snapshot that is due comes before the next model is begun, which may be at once.
void Lane::end_refresh() {
  finish_refresh();
  snapshot_if_due();
  start_requested();
}

void Lane::finish_refresh() {
  built_ = false;
  auto error = refresh_error_;
  std::string adoption;
  try {
    if (error.empty() && journal_ != nullptr) adoption = refresh_->adoption();
  } catch (const std::exception& problem) {
    error = reason(problem);
  }
  if (error.empty()) {
    // There is no way back from here: stream and journal would tell different things.
    stream_->adopt(*refresh_);
    if (journal_ != nullptr) journal_->adopt(std::move(adoption));
  }
  refresh_ = nullptr;
  ++refreshes_;
  if (error.empty()) {
    std::string event = "\"event\":\"refresh\",";
    append_published(*stream_->published(), event);
    fmt::format_to(std::back_inserter(event), ",\"pairs\":{}}}", learned_.load());
    listener_.announce(*this, std::move(event));
  } else {
    ++failed_;
    if (journal_ != nullptr) journal_->abandon();
    announce_failure(fmt::format("no model was built: {}", error));
  }
  for (const auto& job : after_refresh_) settle(job, error);
  after_refresh_.clear();
  ask_state_writer();
}

// The learner is done with a job. What was promised to be durable has to be on the disk first.
void Lane::settle(const std::shared_ptr<Job>& job, const std::string& error) {
  if (!error.empty()) {
    const RequestError failure("failed", error);
    answer(job, &failure);
  } else if (job->durable) {
    to_keep_.push_back(job);
  } else {
    answer(job, nullptr);
  }
}

// Answers those who wait for the disk, when it has what was handed over so far.
void Lane::ask_state_writer() {
  if (journal_ == nullptr) return;
  journal_->flush();
  if (to_keep_.empty()) return;
  journal_->when_kept([this, jobs = std::exchange(to_keep_, {})](const std::string& problem) {
    const RequestError failure(
        "not_durable",
        fmt::format("the pairs were learned, but may be lost when the daemon ends: {}", problem));
    for (const auto& job : jobs) answer(job, problem.empty() ? nullptr : &failure);
  });
}

// Completes a job that has waited. Any thread.
void Lane::answer(const std::shared_ptr<Job>& job, const RequestError* error) {
  {
    const std::lock_guard lock(job->mutex);
    if (error != nullptr && !job->error) job->error = *error;
  }
  if (job->rows_left.fetch_sub(1) == 1) finish(job);
}

}  // namespace phsic
