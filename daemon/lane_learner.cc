// The learner of a lane: learns in order, has models built, brings them into use.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "daemon/lane.h"
#include "daemon/reply.h"

namespace phsic {
namespace {

// Pairs learned before the learner looks whether a model is there.
constexpr std::size_t kPiece = 256;

}  // namespace

void Lane::run_learner() {
  Intake::Block block;
  while (intake_.take(block, next_look())) {
    stream_->refresh_every(refresh_pairs_);
    learn_block(block);
    if (built_) finish_refresh();
    refresh_by_time();
  }
  if (refresh_ != nullptr) await_refresh();
  {
    const std::lock_guard lock(background_mutex_);
    background_closed_ = true;
  }
  background_filled_.notify_one();
}

Lane::Clock::time_point Lane::next_look() const {
  const double seconds = refresh_seconds_;
  if (seconds <= 0 || refresh_ != nullptr || learned_ == learned_at_refresh_) {
    return Clock::now() + std::chrono::hours(1);
  }
  return last_refresh_ +
         std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

void Lane::refresh_by_time() {
  if (refresh_ == nullptr && Clock::now() >= next_look()) {
    start_refresh(Stream::Extent::kWithoutHeldBack);
  }
}

void Lane::learn_block(const Intake::Block& block) {
  refused_ += block.accepted - block.size();
  unlearned_ -= block.accepted - block.size();
  if (wants_way_.exchange(false)) outlet_.make_way(*this);
  std::size_t row = 0;
  for (const auto& marker : block.markers) {
    learn_rows(block, row, marker.row);
    row = marker.row;
    pass_marker(marker.job);
  }
  learn_rows(block, row, block.size());
}

void Lane::learn_rows(const Intake::Block& block, std::size_t first, std::size_t last) {
  const std::string_view bytes = block.bytes;
  while (first < last) {
    const auto count = std::min(kPiece, last - first);
    lesson_x_.clear();
    lesson_y_.clear();
    for (std::size_t i = first; i < first + count; ++i) {
      const auto begin = i == 0 ? 0 : block.ends[2 * i - 1];
      lesson_x_.push_back(bytes.substr(begin, block.ends[2 * i] - begin));
      lesson_y_.push_back(
          bytes.substr(block.ends[2 * i], block.ends[2 * i + 1] - block.ends[2 * i]));
    }
    Lesson lesson;
    lesson.x = slice(block.x.view(), first, count);
    lesson.y = slice(block.y.view(), first, count);
    lesson.times = block.times.data() + first;
    lesson.x_texts = lesson_x_.data();
    lesson.y_texts = lesson_y_.data();
    // A refresh that is due waits for the one on its way.
    const auto before = stream_->pairs();
    const auto done = stream_->learn(lesson, 0, refresh_ == nullptr);
    const auto learned = stream_->pairs() - before;
    learned_ += learned;
    refused_ += done - learned;
    unlearned_ -= done;
    first += done;
    room_ = stream_->room();
    if (wants_way_.exchange(false)) outlet_.make_way(*this);
    if (built_) finish_refresh();
    if (stream_->room() == 0 && refresh_ == nullptr) {
      start_refresh(Stream::Extent::kWithoutHeldBack);
    }
  }
}

// Everything before it has been learned.
void Lane::pass_marker(const std::shared_ptr<Job>& job) {
  if (job->operation == Operation::kRefresh) {
    if (refresh_ != nullptr) await_refresh();
    start_refresh(job->all ? Stream::Extent::kAll : Stream::Extent::kWithoutHeldBack);
  }
  if (refresh_ != nullptr) {
    after_refresh_.push_back(job);
  } else {
    answer(job, {});
  }
}

void Lane::start_refresh(Stream::Extent extent) {
  refresh_ = stream_->freeze(extent);
  last_refresh_ = Clock::now();
  learned_at_refresh_ = learned_;
  room_ = stream_->room();
  if (refresh_ == nullptr) return;
  in_background([this] {
    refresh_error_.clear();
    try {
      refresh_->build();
    } catch (const std::exception& problem) {
      refresh_error_ = problem.what();
    }
    built_ = true;
    built_.notify_one();
    intake_.wake();
  });
}

void Lane::await_refresh() {
  built_.wait(false);
  finish_refresh();
}

void Lane::finish_refresh() {
  built_ = false;
  auto error = refresh_error_;
  try {
    if (error.empty()) stream_->adopt(*refresh_);
  } catch (const std::exception& problem) {
    error = problem.what();
  }
  refresh_ = nullptr;
  ++refreshes_;
  if (error.empty()) {
    std::string event = "\"event\":\"refresh\",";
    append_release(*stream_->release(), event);
    fmt::format_to(std::back_inserter(event), ",\"pairs\":{}}}", learned_.load());
    outlet_.announce(*this, std::move(event));
  } else {
    ++failed_;
    announce_failure(fmt::format("no model was built: {}", error));
  }
  for (const auto& job : after_refresh_) answer(job, error);
  after_refresh_.clear();
}

// Completes a job that has waited for the learner.
void Lane::answer(const std::shared_ptr<Job>& job, const std::string& error) {
  {
    const std::lock_guard lock(job->mutex);
    if (!error.empty() && !job->error) job->error.emplace("failed", error);
  }
  if (job->rows_left.fetch_sub(1) == 1) finish(job);
}

}  // namespace phsic
