#include "daemon/serving/lane.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <new>

#include "daemon/serving/worker_scratch.h"
#include "engine/priority.h"
#include "engine/reason.h"
#include "wire/answer_writer.h"
#include "wire/json_text.h"

namespace phsic {
namespace {

constexpr std::size_t kMostExplaining = 64;  // waiting to be explained

// A broken encoder fails at every pair; saying so once in a while is enough.
constexpr auto kBetweenFailures = std::chrono::seconds(1);

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

FairQueue::Limits limits_of(const StreamSettings& settings) {
  return {settings.queue_pairs, settings.queue_bytes};
}

Backlog::Amount most_unlearned(const StreamSettings& settings) {
  return {settings.learn_queue_pairs, settings.learn_queue_bytes};
}

Backlog::Amount most_explained(const StreamSettings& settings) {
  return {kMostExplaining, settings.queue_bytes};
}

void require_shape(std::string_view side, ItemShape found, ItemShape expected) {
  if (found == expected) return;
  throw RequestError("wrong_shape", fmt::format("{} is {}, expected {}", side, found.to_string(),
                                                expected.to_string()));
}

}  // namespace

Lane::Lane(const StreamSettings& settings, std::unique_ptr<Stream> stream, Recovery recovery,
           std::unique_ptr<StreamJournal> journal, LaneListener& listener)
    : settings_(settings),
      stream_(std::move(stream)),
      listener_(listener),
      journal_(std::move(journal)),
      own_scratch_(std::make_unique<WorkerScratch>()),
      queue_(limits_of(settings), settings.learn_share),
      backlog_(most_unlearned(settings)),
      explaining_(most_explained(settings)),
      learn_queue_(stream_->shape_x(), stream_->shape_y(), journal_ != nullptr,
                   recovery.serving.ids, backlog_),
      batch_pairs_(settings.batch_pairs),
      refresh_seconds_(settings.refresh_seconds),
      flag_p_value_(settings.flag_p_value),
      feed_texts_(settings.feed_texts),
      refresh_pairs_(settings.spec.refresh_pairs),
      until_refresh_(stream_->until_refresh()),
      last_failure_((Clock::now() - kBetweenFailures).time_since_epoch().count()),
      last_refresh_(Clock::now()),
      workers_left_(stream_->counter() != nullptr ? 1 : settings.workers) {
  take_over(recovery);
  if (journal_ != nullptr) journal_->set_waker([this] { learn_queue_.wake(); });
  const auto workers = workers_left_.load();
  for (std::size_t i = 0; i < workers; ++i) threads_.emplace_back([this] { work(); });
  threads_.emplace_back([this] { run_learner(); });
  threads_.emplace_back([this] { run_background(); });
}

Lane::~Lane() {
  close();
  for (auto& thread : threads_) thread.join();
  // The state writer may want to wake the learner until then.
  journal_ = nullptr;
}

// Goes on where it was before the daemon ended.
void Lane::take_over(Recovery& recovery) {
  const auto& serving = recovery.serving;
  for (const auto& [name, counter] : counters()) {
    if (const auto kept = serving.counters.find(name); kept != serving.counters.end()) {
      *counter = kept->second;
    }
  }
  refreshes_ += recovery.models;
  learned_ = stream_->pairs();
  clipped_ = stream_->clipped();
  // The model may be older than the last pair. Which ones it held back is not known any more.
  const auto built_of = stream_->published()->model_pairs().value_or(learned_);
  learned_at_refresh_ = std::min(learned_.load(), built_of + settings_.spec.held_back);
  recovered_ = learned_;
  lost_ = recovery.lost;
  drift_ = serving.drift;
  drift_model_ = serving.drift_model;
  refresh_ = std::move(recovery.pending);
  if (refresh_ != nullptr) build_in_background();
}

// Those that go on after a restart.
std::vector<std::pair<std::string, std::atomic<std::uint64_t>*>> Lane::counters() {
  return {{"scored", &scored_},   {"ranked", &ranked_},
          {"flagged", &flagged_}, {"problems", &problems_},
          {"refused", &refused_}, {"refreshes", &refreshes_},
          {"drifts", &drifts_},   {"duplicates", &duplicates_},
          {"failed", &failed_},   {"overloaded", &overloaded_},
          {"ahead", &ahead_}};
}

// What the client wants, or what the stream promises.
void Lane::make_promise(Job& job) const {
  if (!job.learns || job.client.empty()) return;
  job.durable = job.promise.value_or(settings_.promises_durable(journal_ != nullptr));
  if (!job.durable) return;
  if (journal_ == nullptr) {
    throw RequestError("not_durable",
                       "the daemon keeps no state, expected `state` in its configuration");
  }
  if (!journal_->is_keeping()) {
    throw RequestError(
        "not_durable",
        fmt::format("nothing was learned, for it could not be kept: {}", journal_->problem()));
  }
}

void Lane::require_fits(const Job& job) const {
  if (!job.pairs.are_vectors) return;
  const auto dense = [](std::size_t dim) {
    return ItemShape{ItemKind::kDense, static_cast<std::uint32_t>(dim)};
  };
  require_shape("x", dense(job.pairs.x_dim), stream_->shape_x());
  require_shape("y", dense(job.pairs.y_dim), stream_->shape_y());
}

// A time far ahead, in milliseconds perhaps, would be the latest of the stream for good: nothing
// after it would ever fade or leave a window. When the pair came is known.
void Lane::correct_times(Job& job) {
  for (double& time : job.pairs.times) {
    if (!(time > job.arrival_time + settings_.time_slack)) continue;
    time = job.arrival_time;
    ++ahead_;
  }
}

void Lane::make_ready(Job& job) {
  require_fits(job);
  make_promise(job);
  correct_times(job);
  job.lane = this;
  const auto rows = job.pairs.size();
  job.rows_left = std::max<std::size_t>(1, rows);
  if (!job.scores) return;
  job.score.assign(rows, kNan);
  job.percentile.assign(rows, kNan);
  job.p_value.assign(rows, kNan);
}

bool Lane::offer(const std::shared_ptr<Job>& job) {
  make_ready(*job);
  const bool accepted =
      job->operation == Operation::kExplain ? offer_explain(job) : offer_work(job);
  if (!accepted && !job->client.empty()) ++overloaded_;
  return accepted;
}

bool Lane::offer_explain(const std::shared_ptr<Job>& job) {
  const Backlog::Amount more{1, job->byte_count()};
  if (!explaining_.has_room(more)) return false;
  explaining_.add(more);
  try {
    in_background([this, job, more] {
      explain(job);
      explaining_.remove(more);
      listener_.deliver(job);
    });
  } catch (...) {
    explaining_.remove(more);
    throw;
  }
  return true;
}

// What waits for the learner counts in its backlog, in bytes until it is answered.
Backlog::Amount Lane::charge(Job& job) {
  const bool is_order =
      job.operation == Operation::kRefresh || job.operation == Operation::kSnapshot;
  job.charged = job.learns || is_order ? job.byte_count() : 0;
  return {job.learns ? job.pairs.size() : 0, job.charged};
}

bool Lane::offer_work(const std::shared_ptr<Job>& job) {
  // Another entrance may wait, too: its wish stays.
  const bool was_wanted = job->client.empty() && wants_way_.exchange(true);
  const auto more = charge(*job);
  if (!backlog_.has_room(more)) return false;
  // Before the offer: a worker may be done with it at once.
  backlog_.add(more);
  bool accepted = false;
  try {
    accepted = queue_.offer(job);
  } catch (...) {
    backlog_.remove(more);
    throw;
  }
  if (!accepted) backlog_.remove(more);
  if (accepted && job->client.empty() && !was_wanted) wants_way_ = false;
  return accepted;
}

void Lane::admit(const std::shared_ptr<Job>& job) {
  make_ready(*job);
  const auto more = charge(*job);
  backlog_.add(more);
  try {
    queue_.push(job);
  } catch (...) {
    backlog_.remove(more);
    throw;
  }
}

void Lane::update(const StreamSettings& settings) {
  settings_ = settings;
  queue_.set_limits(limits_of(settings), settings.learn_share);
  refresh_seconds_ = settings.refresh_seconds;
  flag_p_value_ = settings.flag_p_value;
  feed_texts_ = settings.feed_texts;
  backlog_.set_limits(most_unlearned(settings));
  explaining_.set_limits(most_explained(settings));
  refresh_pairs_ = settings.spec.refresh_pairs;
  learn_queue_.wake();
}

void Lane::set_audience(bool scores, bool flags) {
  feeds_scores_ = scores;
  feeds_flags_ = flags;
}

void Lane::close() { queue_.close(); }

void Lane::append_stats(std::string& out) const {
  const auto published = stream_->published();
  const auto depth = queue_.depth();
  const auto unlearned = backlog_.waiting();
  fmt::format_to(
      std::back_inserter(out),
      "\"pairs\":{},\"refused\":{},\"unlearned\":{},\"unlearned_bytes\":{},"
      "\"scored\":{},\"ranked\":{},\"flagged\":{},"
      "\"problems\":{},\"refreshes\":{},\"drifts\":{},\"drift_p_value\":{:.6g},\"queue\":{},"
      "\"queue_bytes\":{},\"overloaded\":{},\"failed\":{},\"duplicates\":{},"
      "\"clipped\":{},\"ahead\":{},",
      learned_.load(), refused_.load(), unlearned.pairs, unlearned.bytes, scored_.load(),
      ranked_.load(), flagged_.load(), problems_.load(), refreshes_.load(), drifts_.load(),
      drift_p_value_.load(), depth.pairs, depth.bytes, overloaded_.load(), failed_.load(),
      duplicates_.load(), clipped_.load(), ahead_.load());
  if (journal_ != nullptr) {
    fmt::format_to(std::back_inserter(out),
                   "\"keeping\":{},\"snapshots\":{},\"recovered\":{},\"lost\":{},",
                   journal_->is_keeping(), journal_->snapshots(), recovered_, lost_);
  }
  append_published(*published, out);
}

void Lane::append_calibration(std::string& out) const {
  const auto published = stream_->published();
  const auto append = [&](const char* name, const std::vector<double>& values) {
    fmt::format_to(std::back_inserter(out), "\"{}\":[", name);
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (i > 0) out += ',';
      append_json_number(out, values[i]);
    }
    out += ']';
  };
  append("matched", published->calibration().matched());
  out += ',';
  append("null", published->calibration().null());
}

void Lane::announce_failure(std::string_view message) {
  const auto now = Clock::now().time_since_epoch().count();
  auto last = last_failure_.load();
  if (now - last < std::chrono::duration_cast<Clock::duration>(kBetweenFailures).count()) return;
  if (!last_failure_.compare_exchange_strong(last, now)) return;
  try {
    listener_.announce(*this,
                       fmt::format("\"event\":\"failure\",\"message\":{}}}", quoted_json(message)));
  } catch (const std::bad_alloc&) {
    // Those who asked are told, and the next failure may be.
  }
}

void Lane::in_background(std::function<void()> task) {
  {
    const std::lock_guard lock(background_mutex_);
    tasks_.push_back(std::move(task));
  }
  background_filled_.notify_one();
}

void Lane::run_background() {
  give_way_to_scoring();
  while (true) {
    std::function<void()> task;
    {
      std::unique_lock lock(background_mutex_);
      background_filled_.wait(lock, [&] { return background_closed_ || !tasks_.empty(); });
      if (tasks_.empty()) break;
      task = std::move(tasks_.front());
      tasks_.pop_front();
    }
    task();
  }
  listener_.closed(*this);
}

void Lane::explain(const std::shared_ptr<Job>& job) {
  try {
    const auto found = stream_->explain(job->pairs.x[0], job->pairs.y[0], job->top);
    if (!found) {
      job->reply =
          error_reply(job->id, "not_ready",
                      "there is no model yet to explain with, expected one after a refresh");
    } else if (!found->problem.empty()) {
      job->reply = error_reply(job->id, "bad_request", found->problem);
    } else {
      write_explanation(*found, *job);
    }
  } catch (const std::exception& problem) {
    ++failed_;
    job->pairs = {};
    job->reply = error_reply(job->id, "failed", reason(problem));
  }
}

}  // namespace phsic
