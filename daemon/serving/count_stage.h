// All of a lane whose stream counts: every pair is scored by all pairs before it, then counted.
//
// One thread takes what waits in order, scores and counts it, and notes it in the journal.
#pragma once

#include <unordered_set>
#include <vector>

#include "daemon/serving/durable_tasks.h"
#include "daemon/serving/fair_queue.h"
#include "daemon/serving/score_stage.h"
#include "daemon/serving/snapshots.h"
#include "daemon/serving/waiting_sources.h"
#include "engine/stream.h"
#include "state/seen_ids.h"
#include "state/stream_journal.h"

namespace phsic {

class CountStage : private ScoreStage {
 public:
  // `seen` are the ids of pairs that came before. Without a journal nothing is kept. REQUIRES: the
  // stream counts.
  CountStage(Stream& stream, SeenIds seen, StreamJournal* journal, FairQueue& queue,
             Backlog& backlog, Snapshots& snapshots, DurableTasks& tasks, LaneCounters& counters,
             DriftWatch& drift, Completion& completion, WaitingSources& sources);

  // Works until the queue is closed and everything in it is done. Takes up to `most` at once.
  void run(Amount most);

 private:
  // What becomes of a row.
  enum class Fate : unsigned char { kAside, kRefused, kDuplicate, kNew };

  void score_group(Group& group, WorkerScratch& scratch) override;
  void choose(const Group& group);
  void note(const Group& group, std::size_t rows) noexcept;
  void fail_from(std::size_t row, Group& group);
  void finish(const WorkerScratch& scratch);

  Stream& stream_;
  SeenIds seen_;
  StreamJournal* journal_;
  FairQueue& queue_;
  Backlog& backlog_;
  Snapshots& snapshots_;
  DurableTasks& tasks_;
  LaneCounters& counters_;
  WaitingSources& sources_;
  // Scratch.
  struct HashOfId {
    std::size_t operator()(const IdHash& id) const { return id.low; }
  };
  std::unordered_set<IdHash, HashOfId> ids_;  // of what is about to be counted
  std::vector<Fate> fates_;
  std::vector<double> times_;
};

}  // namespace phsic
