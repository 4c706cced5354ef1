// Remembers which pairs a model has learned, as far as a set of fingerprints can tell, so that a
// pair does not vouch for itself when the corpus that was learned is scored.
//
// 32 bits of each pair's exact fingerprint, sorted: 4 bytes a pair, at most kMost of them, after
// which no more are remembered. A pair that was not learned is taken for one that was with a chance
// of size() / 2^32. The newest pairs wait in their order, since a model leaves out those that are
// held back from it. A value; not synchronised, const functions from any thread.
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
  void add(const PairKey& key);
  // A model was built of all pairs but the newest `held_back` ones. REQUIRES: at most kMostHeldBack
  // (core/stream_config.h).
  void settle(std::size_t held_back);
  // True if the model has learned the pair. Logarithmic time.
  [[nodiscard]] bool contains(const PairKey& key) const;
  // Different fingerprints that the model has learned.
  [[nodiscard]] std::size_t size() const { return sorted_.size(); }
  // False if pairs came that there was no more room for.
  [[nodiscard]] bool is_complete() const { return is_complete_; }

  // Adds the other's, also what was held back there (see Learner::merge). What is held back here
  // stays so.
  void merge(const LearnedPairs& other);

  // The same bytes for the same pairs, in whatever order those came that are not held back.
  static constexpr std::string_view kArchiveKind = "LRNP";
  void save(Writer& writer) const;
  [[nodiscard]] static LearnedPairs load(Reader& reader);

 private:
  using Print = std::uint32_t;
  // Adds the first `count` prints, in any order, as far as there is room.
  void sort_in(std::vector<Print> prints, std::size_t count);

  std::size_t most_ = kMost;
  std::vector<Print> sorted_;  // strictly ascending
  std::vector<Print> newest_;  // oldest first
  bool is_complete_ = true;
};

}  // namespace phsic
