// What a thread that scores works with, kept from batch to batch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string_view>
#include <vector>

#include "daemon/fair_queue.h"
#include "engine/batch.h"

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

struct Workbench {
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

  // An empty one. Those from before stay where they are.
  Group& add_group() {
    if (groups_used == groups.size()) groups.emplace_back();
    return groups[groups_used++];
  }
  void clear() {
    for (auto& group : groups) group.slices.clear();
    groups_used = 0;
  }
};

}  // namespace phsic
