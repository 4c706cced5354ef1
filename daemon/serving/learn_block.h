// Pairs that were scored together and go on to be learned, and the tasks they are of.
//
// A worker fills it, the sequence stage finds out which of its pairs are new, the learner learns
// those, and the memory is used again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "daemon/serving/amount.h"
#include "daemon/serving/task.h"
#include "decide/memory_replay.h"
#include "decide/recent_pairs.h"
#include "engine/batch.h"
#include "engine/learn_items.h"
#include "state/seen_ids.h"

namespace phsic {

// When a pair came, by its own account or by the request's.
[[nodiscard]] double time_of(const Request& request, std::size_t row);
// The hash of the id that a pair was given; kNoId where there is none.
[[nodiscard]] IdHash id_of(const Request& request, std::size_t row);

// The fingerprints by which duplicates of a pair are found (decide/recent_pairs.h).
[[nodiscard]] PairKey key_of(const PairBlock& pairs, std::size_t i, std::string& scratch);

struct LearnBlock {
  // The rows of one task, one after the other.
  struct Part {
    std::shared_ptr<Task> task;
    std::size_t taken = 0;     // rows of the task
    std::size_t end = 0;       // of its rows here
    std::size_t refused = 0;   // could not be learned
    std::size_t rejected = 0;  // broke a rule
  };
  // A list, so that they change hands without memory.
  using Parts = std::list<Part>;
  // A pair that is not learned, after the first `place` of the block.
  struct Rejected {
    std::size_t place = 0;
    DecisionCode decision;
  };
  // A task that waits for all before it to be learned.
  struct Marker {
    std::size_t row = 0;  // after so many pairs
    std::shared_ptr<Task> task;
  };

  std::uint64_t ticket = 0;  // its place among all blocks
  LearnItems items;
  std::vector<double> times;
  std::string bytes;  // texts, x and y of each pair; empty for vectors
  std::vector<std::size_t> ends;
  std::vector<bool> are_vectors;
  std::vector<IdHash> ids;  // kNoId where there is none
  std::vector<PairKey> keys;
  std::vector<std::size_t> rows;        // of their tasks
  std::vector<DecisionCode> decisions;  // about the pairs, as far as it is known
  std::vector<Rejected> rejected;       // ascending by place; duplicates, too, once they are known
  std::vector<bool> is_duplicate;       // not to be learned; empty until it is known
  bool is_refused = false;              // none of its pairs is to be learned
  Parts parts;                          // ascending by end
  std::vector<Marker> markers;          // ascending by row
  std::size_t longest_text = 0;         // no more is kept of a text
  Amount charge;                        // in the backlog
  std::string scratch;

  [[nodiscard]] std::size_t size() const { return times.size(); }
  // x and y of pair i; empty for vectors.
  [[nodiscard]] std::pair<std::string_view, std::string_view> texts(std::size_t i) const;
  // Adds row i of a task, which is row `row` of the batch. False: its items are of no use.
  [[nodiscard]] bool add(const Batch& batch, std::size_t row, const Task& task, std::size_t i);
  // Row i of a task breaks a rule, and is not to be learned.
  void reject(const Task& task, std::size_t i);
  void clear();
  [[nodiscard]] std::size_t byte_count() const;
};

// A list, so that blocks change hands without a copy.
using LearnBlocks = std::list<LearnBlock>;

}  // namespace phsic
