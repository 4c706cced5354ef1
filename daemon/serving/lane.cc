#include "daemon/serving/lane.h"

#include <fmt/format.h>

#include <limits>
#include <string_view>
#include <utility>

namespace phsic {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

void require_shape(std::string_view side, ItemShape found, ItemShape expected) {
  if (found == expected) return;
  throw RequestError("wrong_shape", fmt::format("{} is {}, expected {}", side, found.to_string(),
                                                expected.to_string()));
}

}  // namespace

Lane::Lane(const StreamSettings& settings, std::unique_ptr<Stream> stream, Recovery recovery,
           std::unique_ptr<StreamJournal> journal, LaneListener& listener)
    : parts_(settings, std::move(stream), recovery, std::move(journal), listener),
      explain_(*parts_.stream, settings.queue_bytes, parts_.background, parts_.decide,
               parts_.dropped, parts_.counters, parts_.completion),
      pipeline_(Pipeline::start(parts_, std::move(recovery))) {}

Lane::~Lane() { close(); }

void Lane::require_fits(const Request& request) const {
  const auto& pairs = request.pairs;
  if (!pairs.are_vectors) return;
  const auto dense = [](std::size_t dim) {
    return ItemShape{ItemKind::kDense, static_cast<std::uint32_t>(dim)};
  };
  require_shape("x", dense(pairs.x_dim), parts_.stream->shape_x());
  require_shape("y", dense(pairs.y_dim), parts_.stream->shape_y());
}

// What the client wants, or what the stream promises to clients.
void Lane::make_promise(Task& task) const {
  const auto& request = task.request;
  const auto* journal = parts_.journal.get();
  if (!request.learns) return;
  const bool usual =
      !task.caller->is_source() && parts_.settings.promises_durable(journal != nullptr);
  if (!request.durable.value_or(usual)) return;
  if (journal == nullptr) {
    throw RequestError("not_durable",
                       "the daemon keeps no state, expected `state` in its configuration");
  }
  if (!journal->is_keeping()) {
    throw RequestError(
        "not_durable",
        fmt::format("nothing was learned, for it could not be kept: {}", journal->problem()));
  }
  task.outcome.is_durable = true;
}

// A time far ahead, in milliseconds perhaps, would be the latest of the stream for good: nothing
// after it would ever fade or leave a window. When the pair came is known.
void Lane::correct_times(Request& request) {
  for (double& time : request.pairs.times) {
    if (!(time > request.arrival_time + parts_.settings.time_slack)) continue;
    time = request.arrival_time;
    ++parts_.counters.ahead;
  }
}

void Lane::make_ready(Task& task) {
  auto& request = task.request;
  require_fits(request);
  make_promise(task);
  correct_times(request);
  task.waits_for_learner =
      request.is_order() ||
      (request.learns && (request.waits || task.outcome.is_durable || task.caller->is_source()));
  Completion::begin(task);
  const auto rows = request.pairs.size();
  if (request.is_decided()) {
    // What is only taught is kept unless there is something against it.
    const auto first = request.scores ? Decision{Verdict::kUndecided, reasons::kUnscored}
                                      : Decision{Verdict::kKeep, reasons::kNone};
    task.outcome.verdict.assign(rows, static_cast<std::uint8_t>(first.verdict));
    task.outcome.reason.assign(rows, first.reason);
  }
  if (!request.scores) return;
  task.outcome.score.assign(rows, kNan);
  task.outcome.percentile.assign(rows, kNan);
  task.outcome.p_value.assign(rows, kNan);
  task.outcome.quality.assign(rows, kNan);
}

bool Lane::offer(const std::shared_ptr<Task>& task) {
  make_ready(*task);
  if (pipeline_->score_here(task)) return true;
  const bool accepted =
      task->request.operation == Operation::kExplain ? explain_.offer(task) : offer_work(task);
  if (!accepted && !task->caller->is_source()) ++parts_.counters.overloaded;
  return accepted;
}

// What waits for the learner counts in its backlog, in bytes until it is done.
Amount Lane::charge(Task& task) const {
  const auto& request = task.request;
  task.charged = request.learns || request.is_order() ? task.byte_count() : 0;
  return {request.learns ? request.pairs.size() : 0, task.charged};
}

bool Lane::offer_work(const std::shared_ptr<Task>& task) {
  const bool is_source = task->caller->is_source();
  // Before looking for room: room that is made meanwhile must not be missed.
  if (is_source) parts_.sources.add(task->caller);
  const auto more = charge(*task);
  if (!parts_.unlearned.has_room(more)) return false;
  // Before the offer: a worker may be done with it at once.
  parts_.unlearned.add(more);
  bool accepted = false;
  try {
    accepted = parts_.queue.offer(task);
  } catch (...) {
    parts_.unlearned.remove(more);
    throw;
  }
  if (!accepted) parts_.unlearned.remove(more);
  if (accepted && is_source) parts_.sources.remove(task->caller);
  return accepted;
}

void Lane::admit(const std::shared_ptr<Task>& task) {
  make_ready(*task);
  const auto more = charge(*task);
  parts_.unlearned.add(more);
  try {
    parts_.queue.push(task);
  } catch (...) {
    parts_.unlearned.remove(more);
    throw;
  }
}

LaneUpdate::LaneUpdate(const StreamSettings& wanted)
    : settings(wanted),
      plan(std::make_shared<const DecidePlan>(wanted.plan())),
      decide_options(decide_options_json(wanted)) {}

void Lane::update(LaneUpdate update) noexcept {
  auto& settings = parts_.settings;
  settings = std::move(update.settings);
  parts_.queue.set_limits({settings.queue_pairs, settings.queue_bytes}, settings.learn_share);
  parts_.unlearned.set_limits({settings.learn_queue_pairs, settings.learn_queue_bytes});
  parts_.plan.set(update.plan);
  parts_.decisions.set_plan(std::move(update.plan), std::move(update.decide_options));
  explain_.set_limit(settings.queue_bytes);
  pipeline_->update(settings);
}

void Lane::close() {
  explain_.close();
  parts_.queue.close();
}

StreamStatistics Lane::statistics() const {
  const auto& counters = parts_.counters;
  const auto unlearned = parts_.unlearned.waiting();
  const auto depth = parts_.queue.depth();
  StreamStatistics all;
  all.pairs = counters.learned;
  all.refused = counters.refused;
  all.unlearned = unlearned.pairs;
  all.unlearned_bytes = unlearned.bytes;
  all.scored = counters.scored;
  all.ranked = counters.ranked;
  const auto decided = [&](Verdict verdict) {
    return counters.taught[verdict] + counters.aside[verdict];
  };
  all.decisions = {decided(Verdict::kKeep), decided(Verdict::kDrop), decided(Verdict::kUndecided),
                   counters.rejected, counters.reasons()};
  all.problems = counters.problems;
  all.refreshes = counters.refreshes;
  all.drifts = counters.drifts;
  all.drift_p_value = counters.drift_p_value;
  all.queue = depth.pairs;
  all.queue_bytes = depth.bytes;
  all.overloaded = counters.overloaded;
  all.failed = counters.failed;
  all.duplicates = counters.duplicates;
  all.clipped = counters.clipped;
  all.ahead = counters.ahead;
  if (const auto* journal = parts_.journal.get()) {
    all.kept = StreamStatistics::Kept{journal->is_keeping(), journal->snapshots(), parts_.recovered,
                                      parts_.lost};
  }
  all.published = parts_.stream->published();
  return all;
}

}  // namespace phsic
