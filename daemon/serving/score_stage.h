// Encodes and scores what was taken from the queue, into the outcomes of its tasks. Any number of
// threads, each with a scratch of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "daemon/serving/completion.h"
#include "daemon/serving/drift_watch.h"
#include "daemon/serving/lane_counters.h"
#include "daemon/serving/worker_scratch.h"
#include "engine/stream_scorer.h"

namespace phsic {

// Whether the loop's thread may score so many vectors by itself, at so many multiplications and
// additions each. It must not be kept from its sockets: what is allowed takes a few tenths of a
// millisecond.
[[nodiscard]] constexpr bool is_quick(std::size_t pairs, std::uint64_t multiply_adds) {
  constexpr std::size_t kMostPairs = 4;
  constexpr std::uint64_t kMostWork = 1U << 21U;
  return pairs <= kMostPairs && pairs * multiply_adds <= kMostWork;
}

class ScoreStage {
 public:
  ScoreStage(const StreamScorer& stream, LaneCounters& counters, DriftWatch& drift,
             Completion& completion)
      : stream_(stream), counters_(counters), drift_(drift), completion_(completion) {}
  virtual ~ScoreStage() = default;
  ScoreStage(const ScoreStage&) = delete;
  ScoreStage& operator=(const ScoreStage&) = delete;
  ScoreStage(ScoreStage&&) = delete;
  ScoreStage& operator=(ScoreStage&&) = delete;

  // Scores scratch.taken. Afterwards the groups of the scratch have what was encoded, and `failed`
  // what could not be.
  void score(WorkerScratch& scratch);

 protected:
  // Scores a group that was encoded, in place.
  virtual void score_group(Group& group, WorkerScratch& scratch);

 private:
  void sort_out(WorkerScratch& scratch);
  void process(Group& group, WorkerScratch& scratch);
  void encode_texts(Group& group, WorkerScratch& scratch) const;
  void take_vectors(Group& group, WorkerScratch& scratch) const;
  void take_scores(const Slice& slice, std::size_t offset, const Batch& batch);
  void watch(const Slice& slice, const PublishedModel& published);
  void rank(const Slice& slice, Batch& batch);

  const StreamScorer& stream_;
  LaneCounters& counters_;
  DriftWatch& drift_;
  Completion& completion_;
};

}  // namespace phsic
