// All of a lane whose stream counts: every pair is scored by all pairs before it, then counted.
//
// One thread takes what waits in order, scores and counts it, and notes it in the journal. Answers
// are written elsewhere (answer_stage).
#pragma once

#include <unordered_set>
#include <vector>

#include "daemon/serving/answer_stage.h"
#include "daemon/serving/lane_parts.h"
#include "daemon/serving/learned_tasks.h"
#include "daemon/serving/score_stage.h"
#include "daemon/serving/snapshots.h"
#include "state/seen_ids.h"

namespace phsic {

class CountStage : private ScoreStage {
 public:
  // `seen` are the ids of pairs that came before. REQUIRES: the stream counts.
  CountStage(LaneParts& parts, SeenIds seen, Snapshots& snapshots, LearnedTasks& tasks,
             AnswerStage& answers);

  // Works until the queue is closed and everything in it is done. Takes up to `most` at once.
  void run(Amount most);

 private:
  // What becomes of a row.
  enum class Fate : unsigned char { kAside, kRefused, kRejected, kDuplicate, kNew };

  void score_group(Group& group, WorkerScratch& scratch) override;
  void choose(const Group& group);
  void note(const Group& group, std::size_t rows) noexcept;
  void note(Task& task, std::size_t i, Fate fate, double time, const Decision& decision);
  void fail_from(std::size_t row, Group& group);
  void hand_on(WorkerScratch& scratch);

  LaneParts& parts_;
  SeenIds seen_;
  Snapshots& snapshots_;
  LearnedTasks& tasks_;
  AnswerStage& answers_;
  // Scratch.
  struct HashOfId {
    std::size_t operator()(const IdHash& id) const { return id.low; }
  };
  std::unordered_set<IdHash, HashOfId> ids_;  // of what is about to be counted
  std::vector<Fate> fates_;
  std::vector<double> times_;
};

}  // namespace phsic
