// What a thread that scores works with, kept from batch to batch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "daemon/serving/fair_queue.h"
#include "daemon/serving/learn_queue.h"
#include "engine/batch.h"
#include "state/seen_ids.h"

namespace phsic {

// May the I/O thread score so many vectors by itself, at so many multiplications and additions
// each? It must not be kept from its sockets: what is allowed takes a few tenths of a millisecond.
[[nodiscard]] constexpr bool is_quick(std::size_t pairs, std::uint64_t multiply_adds) {
  constexpr std::size_t kMostPairs = 4;
  constexpr std::uint64_t kMostWork = 1U << 21U;
  return pairs <= kMostPairs && pairs * multiply_adds <= kMostWork;
}

// Slices that are encoded and scored together, all texts or all vectors.
struct Group {
  std::vector<Slice> slices;
  Batch batch;  // their rows, one after the other
};

// What becomes of a row.
enum class Fate : std::uint8_t {
  kAside,      // nobody wants it learned
  kRefused,    // cannot be learned
  kDuplicate,  // has been learned before
  kNew,
};

// What was taught of a job.
struct Taught {
  Job* job = nullptr;
  std::size_t learned = 0;
  std::size_t duplicates = 0;
  std::size_t refused = 0;
};

struct HashOfId {
  std::size_t operator()(const IdHash& id) const { return id.low; }
};

struct WorkerScratch {
  FairQueue::Taken taken;
  std::deque<Group> groups;  // the first `groups_used` of them
  std::size_t groups_used = 0;
  Batch ranked;
  // Scratch.
  std::vector<std::string_view> x;
  std::vector<std::string_view> y;
  std::vector<float> x_values;
  std::vector<float> y_values;
  std::vector<double> times;
  std::vector<Fate> fates;
  std::unordered_set<IdHash, HashOfId> ids;  // of what is about to be learned
  std::vector<Taught> taught;
  LearnQueue::Blocks drafts;  // for the learner

  // An empty one. Those from before stay where they are.
  Group& add_group() {
    if (groups_used == groups.size()) groups.emplace_back();
    return groups[groups_used++];
  }
  void clear() {
    for (auto& group : groups) group.slices.clear();
    groups_used = 0;
    ids.clear();
    taught.clear();
    drafts.clear();
  }
};

}  // namespace phsic
