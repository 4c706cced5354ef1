// What a thread that scores works with, kept from batch to batch.
#pragma once

#include <cstddef>
#include <deque>
#include <new>
#include <string_view>
#include <vector>

#include "daemon/serving/fair_queue.h"
#include "daemon/serving/task.h"
#include "decide/rules.h"
#include "engine/batch.h"

namespace phsic {

// Slices that are encoded and scored together, all texts or all vectors.
struct Group {
  std::vector<Slice> slices;
  Batch batch;  // their rows, one after the other
};

struct WorkerScratch {
  // For up to so many pairs at once.
  explicit WorkerScratch(std::size_t pairs) {
    // No slice is without a row, but for orders.
    taken.slices.reserve(pairs);
    failed.reserve(pairs);
  }

  FairQueue::Taken taken;
  std::deque<Group> groups;  // the first `groups_used` of them
  std::size_t groups_used = 0;
  std::vector<Slice> failed;  // in no group; has memory for as many as are taken
  Batch ranked;
  std::vector<std::string_view> x;
  std::vector<std::string_view> y;
  std::vector<float> x_values;
  std::vector<float> y_values;
  RuleScratch rules;

  // An empty one. Those from before stay where they are.
  Group& add_group() {
    if (groups_used == groups.size()) groups.emplace_back();
    return groups[groups_used++];
  }
  // Puts a slice into a group of its own, if there is memory for that.
  [[nodiscard]] bool has_group_for(const Slice& slice) {
    try {
      add_group().slices.push_back(slice);
      return true;
    } catch (const std::bad_alloc&) {
      return false;
    }
  }
  // Lets go of all tasks.
  void clear() {
    for (auto& group : groups) group.slices.clear();
    groups_used = 0;
    failed.clear();
  }
};

}  // namespace phsic
