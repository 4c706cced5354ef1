// Takes snapshots of a stream: when they are due, when somebody asks for one, and a last one at the
// end. Belongs to the learner's thread.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "daemon/serving/background.h"
#include "daemon/serving/completion.h"
#include "daemon/serving/decision_keeper.h"
#include "daemon/serving/drift_watch.h"
#include "daemon/serving/lane_counters.h"
#include "engine/stream_storage.h"
#include "state/stream_journal.h"

namespace phsic {

class Snapshots {
 public:
  // Without a journal there are none. `wake` wakes the learner; it is called from any thread.
  Snapshots(const StreamStorage& stream, StreamJournal* journal, Background& background,
            DriftWatch& drift, const LaneCounters& counters, const DecisionKeeper& decisions,
            Completion& completion, Reporter& reporter, std::function<void()> wake);

  // A task that asks for one.
  void add(const std::shared_ptr<Task>& task) { asked_.push_back(task); }
  // Takes one if it is due or asked for, and none is being written. REQUIRES: all that was learned
  // is in the journal.
  void take_if_due();
  // When to look again.
  [[nodiscard]] std::chrono::steady_clock::time_point next_look() const;
  // The last one, so that the next start has nothing to do over again. Waits until it is on the
  // disk, and the disk's thread has left the lane.
  void finish();

 private:
  using Tasks = std::vector<std::shared_ptr<Task>>;

  void take(bool at_once);
  void write(const StreamJournal::Draft& draft, const StreamState& state, const Tasks& tasks);
  void end(const Tasks& tasks, const std::string& problem, std::uint64_t pairs,
           std::uint64_t bytes);

  const StreamStorage& stream_;
  StreamJournal* journal_;
  Background& background_;
  DriftWatch& drift_;
  const LaneCounters& counters_;
  const DecisionKeeper& decisions_;
  Completion& completion_;
  Reporter& reporter_;
  const std::function<void()> wake_;
  Tasks asked_;
  std::atomic<bool> is_writing_{false};
};

}  // namespace phsic
