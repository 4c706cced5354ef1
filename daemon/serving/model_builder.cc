#include "daemon/serving/model_builder.h"

#include <fmt/format.h>

#include <utility>

#include "daemon/serving/when_memory.h"
#include "engine/reason.h"

namespace phsic {

ModelBuilder::ModelBuilder(Stream& stream, ModelCycle::Notes* notes,
                           std::unique_ptr<Refresh> pending, std::uint64_t model_pairs,
                           Background& background, LaneCounters& counters, LearnedTasks& tasks,
                           Reporter& reporter, std::function<void()> wake)
    : stream_(stream),
      cycle_(stream, notes, std::move(pending)),
      background_(background),
      counters_(counters),
      tasks_(tasks),
      reporter_(reporter),
      wake_(std::move(wake)),
      pairs_at_last_(model_pairs) {
  if (is_building()) build_in_background();
}

void ModelBuilder::set_schedule(double seconds, std::uint64_t pairs) {
  every_seconds_ = seconds;
  every_pairs_ = pairs;
}

std::size_t ModelBuilder::learn(const LearnBatch& batch, std::size_t first) {
  const auto done = cycle_.learn(batch, first);
  counters_.until_refresh = stream_.until_refresh();
  return done;
}

void ModelBuilder::begin_if_due() {
  if (cycle_.is_due()) begin(PairExtent::kWithoutHeldBack);
}

void ModelBuilder::begin_by_time() {
  if (!is_building() && Clock::now() >= next_look()) begin(PairExtent::kWithoutHeldBack);
}

ModelBuilder::Clock::time_point ModelBuilder::next_look() const {
  const double seconds = every_seconds_;
  // Whoever builds a model wakes the learner afterwards.
  if (seconds <= 0 || is_building() || stream_.pairs() == pairs_at_last_ ||
      !stream_.is_measurable()) {
    return Clock::now() + std::chrono::hours(1);
  }
  return last_begun_ +
         std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

void ModelBuilder::add(const std::shared_ptr<Task>& task) {
  asked_.add(task);
  begin_asked();
}

// A model of what was learned so far, for all who wait for one of its kind.
void ModelBuilder::begin_asked() {
  while (!is_building() && !asked_.is_empty()) {
    const auto group = asked_.take();
    const auto error = begin(group.extent);
    if (is_building()) {
      after_this_.insert(after_this_.end(), group.tasks.begin(), group.tasks.end());
    } else {
      for (const auto& task : group.tasks) tasks_.add(task, error);
    }
  }
}

// Returns what went wrong, if anything. None is begun then, or where there are no models.
std::string ModelBuilder::begin(PairExtent extent) {
  std::string error;
  try {
    cycle_.begin(extent);
  } catch (const std::exception& problem) {
    error = reason(problem);
  }
  last_begun_ = Clock::now();
  pairs_at_last_ = stream_.pairs();
  counters_.until_refresh = stream_.until_refresh();
  if (is_building()) build_in_background();
  if (!error.empty()) {
    ++counters_.refreshes;
    ++counters_.failed;
    reporter_.tell_failure(fmt::format("no model was built: {}", error));
  }
  return error;
}

void ModelBuilder::build_in_background() {
  const auto build = [this] {
    build_error_.clear();
    try {
      cycle_.pending()->build();
    } catch (const std::exception& problem) {
      build_error_ = reason(problem);
    }
    is_built_ = true;
    is_built_.notify_one();
    wake_();
  };
  when_there_is_memory([&] { background_.add(build); });
}

void ModelBuilder::adopt() {
  is_built_ = false;
  auto error = build_error_;
  if (!error.empty()) {
    cycle_.abandon();
  } else {
    try {
      cycle_.adopt();
    } catch (const std::exception& problem) {
      // The stream may have taken half of the model: the daemon ends, and recovers by its journal.
      if (is_building()) throw;
      error = reason(problem);
    }
  }
  ++counters_.refreshes;
  if (error.empty()) {
    reporter_.tell(RefreshEvent{stream_.published(), stream_.pairs()});
  } else {
    ++counters_.failed;
    reporter_.tell_failure(fmt::format("no model was built: {}", error));
  }
  for (const auto& task : std::exchange(after_this_, {})) tasks_.add(task, error);
  tasks_.flush();
}

void ModelBuilder::finish() {
  while (is_building()) {
    is_built_.wait(false);
    adopt();
    begin_asked();
  }
}

}  // namespace phsic
