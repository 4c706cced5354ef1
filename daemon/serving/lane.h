// A lane: one stream at work, in threads of its own.
//
//   queue -> decide by rules -> score ──> told: feed, caller
//                                 │         ▲
//                                 └──> sequence -> learn ──> journal
//                                                    │
//                                           build models, write snapshots
//
// A task that teaches is told when its pairs are in order: only then are its duplicates known.
//
// Each step is a class of its own. A stream that counts has one stage for all of it (count_stage):
// its pairs are scored by all pairs before them. Lanes share nothing but the state writer, so that
// a slow or broken encoder in one does not delay another.
//
// For the loop's thread; callers and the listener are told from the lane's threads.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "daemon/config.h"
#include "daemon/serving/explain_stage.h"
#include "daemon/serving/lane_listener.h"
#include "daemon/serving/lane_parts.h"
#include "daemon/serving/pipeline.h"
#include "daemon/serving/task.h"
#include "engine/stream.h"
#include "state/recovery.h"
#include "state/stream_journal.h"
#include "wire/statistics.h"

namespace phsic {

// What a lane takes over while it runs. Whatever can fail is done when this is made.
struct LaneUpdate {
  // Throws an Error if decisions do not go together.
  explicit LaneUpdate(const StreamSettings& wanted);

  StreamSettings settings;
  std::shared_ptr<const DecidePlan> plan;
  std::string decide_options;  // JSON
};

class Lane {
 public:
  // Starts the threads. The stream goes on where `recovery` ended. Without a journal nothing is
  // kept.
  Lane(const StreamSettings& settings, std::unique_ptr<Stream> stream, Recovery recovery,
       std::unique_ptr<StreamJournal> journal, LaneListener& listener);
  // Waits for what was accepted.
  ~Lane();
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;
  Lane(Lane&&) = delete;
  Lane& operator=(Lane&&) = delete;

  [[nodiscard]] const std::string& name() const { return parts_.settings.name; }
  [[nodiscard]] const StreamSettings& settings() const { return parts_.settings; }
  [[nodiscard]] const StreamScorer& stream() const { return *parts_.stream; }

  // Takes a task over, or refuses it because too much is waiting already; a source is told when
  // there may be room. The task may be done before this returns. Throws a RequestError if the
  // request does not fit the stream.
  [[nodiscard]] bool offer(const std::shared_ptr<Task>& task);
  // Takes a task over, whatever is waiting already.
  void admit(const std::shared_ptr<Task>& task);

  void update(LaneUpdate update) noexcept;
  // Accepts nothing more, and ends when all that was accepted is done.
  void close();

  [[nodiscard]] StreamStatistics statistics() const;
  // How many requests were refused. The statistics have this number, too.
  [[nodiscard]] std::uint64_t overloaded() const { return parts_.counters.overloaded; }

 private:
  void require_fits(const Request& request) const;
  void make_promise(Task& task) const;
  void correct_times(Request& request);
  void make_ready(Task& task);
  [[nodiscard]] Amount charge(Task& task) const;
  [[nodiscard]] bool offer_work(const std::shared_ptr<Task>& task);

  LaneParts parts_;
  ExplainStage explain_;
  std::unique_ptr<Pipeline> pipeline_;  // last: its threads end first
};

}  // namespace phsic
