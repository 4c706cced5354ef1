// Which views of a stream saw its newest pairs, and so which pairs all of them still hold back. A
// value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "core/archive.h"

namespace phsic {

class Sightings {
 public:
  // Remembers so many pairs.
  explicit Sightings(std::size_t most) : most_(most) {}

  // The next pair, with a bit for each view that took it to learn: that is what seeing is here.
  void add(std::uint8_t seen);

  // Where each view v holds back its newest counts[v] pairs: how many of the newest pairs are held
  // back by all views that saw them. They are those after the newest one that a view has learned.
  [[nodiscard]] std::size_t count_held_back(std::vector<std::size_t> counts) const;

  // The same pairs, oldest first.
  struct HeldBack {
    std::size_t pairs = 0;
    // For each view: which of the pairs that it holds back each pair is, from 0, oldest first, or
    // TrialPlan::kAbsent.
    std::vector<std::vector<std::size_t>> rows;
  };
  [[nodiscard]] HeldBack held_back(std::vector<std::size_t> counts) const;

  void save(Writer& writer) const;
  // Of a stream that has learned so many pairs; remembers as many as this one.
  [[nodiscard]] Sightings load_like(Reader& reader, std::uint64_t pairs) const;

 private:
  std::size_t most_;
  std::deque<std::uint8_t> seen_;  // oldest first
};

}  // namespace phsic
