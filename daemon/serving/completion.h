// The end of each task: counts what is left of it, and tells its caller.
//
// A task has up to three parts, done in any order by different threads: its rows are scored; they
// are put in order for the learner, if it teaches; and the learner or the disk has come so far, if
// it waits for that. The first two are the work that needs its pairs. When both are done everything
// is decided about them: then the feed is told, and the answer written.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "daemon/serving/backlog.h"
#include "daemon/serving/dropped_pairs.h"
#include "daemon/serving/lane_counters.h"
#include "daemon/serving/reporter.h"
#include "daemon/serving/task.h"
#include "daemon/serving/waiting_sources.h"
#include "engine/stream_scorer.h"

namespace phsic {

class Completion {
 public:
  Completion(const StreamScorer& stream, Backlog& backlog, LaneCounters& counters,
             Reporter& reporter, WaitingSources& sources, DroppedPairs& dropped)
      : stream_(stream),
        backlog_(backlog),
        counters_(counters),
        reporter_(reporter),
        sources_(sources),
        dropped_(dropped) {}

  // Counts the parts of a task. Before it is queued.
  static void begin(Task& task);

  // These rows are scored, or could not be.
  void scored(const Slice& slice);
  // So many rows have been put in order for the learner, or given up.
  void sequenced(const std::shared_ptr<Task>& task, std::size_t rows);
  // The learner, or the disk, has come so far. REQUIRES: the task waits for that.
  void learned(const std::shared_ptr<Task>& task, const RequestError* error = nullptr);
  // The task is answered; it had nothing to score. Any thread.
  void answered(const std::shared_ptr<Task>& task) { end_part(task); }

  // The rows get no scores, and the task an error. Works without memory, too. Before the rows are
  // told as scored.
  void fail(const Slice& slice, const char* message);
  // The task's pairs are not learned, and it gets an error. Works without memory, too. At any time
  // before the task is done: others may be looking at its scores.
  void fail_to_learn(Task& task, const char* message);

 private:
  void tell(Task& task);
  void end_work(const std::shared_ptr<Task>& task);
  void end_part(const std::shared_ptr<Task>& task);
  void let_go_of_pairs(Task& task);
  void finish(const std::shared_ptr<Task>& task);
  void fill_in(Task& task) const;
  [[nodiscard]] std::optional<std::size_t> until_refresh() const;

  const StreamScorer& stream_;
  Backlog& backlog_;
  LaneCounters& counters_;
  Reporter& reporter_;
  WaitingSources& sources_;
  DroppedPairs& dropped_;
};

}  // namespace phsic
