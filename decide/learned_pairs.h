// Which pairs a model has learned, as far as a set of fingerprints can tell: so that a pair does
// not vouch for itself when the corpus that was learned is scored.
//
// 32 bits of each pair's exact fingerprint, sorted: 4 bytes a pair, at most kMost of them, after
// which no more are remembered. A pair that was not learned is taken for one that was with a chance
// of size() / 2^32. What was added last waits unsorted, and is sorted in with a share of the rest.
// A value; not synchronised, const functions from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/archive.h"
#include "decide/recent_pairs.h"

namespace phsic {

class LearnedPairs {
 public:
  static constexpr std::size_t kMost = std::size_t{1} << 24U;

  LearnedPairs() = default;
  // Remembers fewer pairs. Throws beyond kMost.
  explicit LearnedPairs(std::size_t most);

  // Amortised logarithmic time. A fingerprint that is there already changes nothing.
  void add(const PairKey& key) { add_print(print_of(key)); }
  // Sorts in what was added last. What was loaded is settled.
  void settle();
  // Right at any time; logarithmic time when settled, else it also looks through up to a fifth of
  // the set, pair by pair.
  [[nodiscard]] bool contains(const PairKey& key) const { return has_print(print_of(key)); }
  // Different fingerprints; until settled, those that came again may be counted again.
  [[nodiscard]] std::size_t size() const { return sorted_.size() + tail_.size(); }
  // False when further pairs came after as many as can be were there.
  [[nodiscard]] bool is_complete() const { return is_complete_; }

  // Adds the other's.
  void merge(const LearnedPairs& other);

  // The same bytes for the same pairs, in whatever order they came.
  static constexpr std::string_view kArchiveKind = "LRNP";
  void save(Writer& writer) const;
  [[nodiscard]] static LearnedPairs load(Reader& reader);

 private:
  using Print = std::uint32_t;
  [[nodiscard]] static Print print_of(const PairKey& key) {
    return static_cast<Print>(key.exact >> 32U);
  }
  void add_print(Print print);
  [[nodiscard]] bool has_print(Print print) const;

  std::size_t most_ = kMost;
  std::vector<Print> sorted_;  // strictly ascending
  std::vector<Print> tail_;    // in any order
  bool is_complete_ = true;
};

}  // namespace phsic
