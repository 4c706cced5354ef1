// The newest pairs that were learned: whether a pair, or one that is nearly the same, came not long
// ago.
//
// A pair has two fingerprints of 64 bits: one of its bytes, one of what is left of both texts when
// case, signs, spaces and the values of numbers are ignored (text/letters_only.h). A text that is
// mostly digits, such as a vector in writing, is about those values and counts with all its bytes
// in both. It is mostly digits if it has digits (numbers of any script), and at least as many of
// them as its letters have bytes in what is left; signs and spaces do not count. "[1, 2.5, 7]" and
// "12 kg" are, "3 kg" and "page 10" are not.
//
// A pair whose second fingerprint is there is a duplicate, exact if the first one is the same. A
// window of the last `capacity` different pairs (core/hash_window.h), 24 to 32 bytes for each. A
// pair is taken for another's duplicate by chance once in 2^64 / capacity pairs; an attacker can
// make two texts of one fingerprint, since the hash (XXH3) is no secret. No allocation once full.
// Not synchronised.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/archive.h"
#include "core/hash_window.h"
#include "core/random.h"
#include "decide/decision.h"

namespace phsic {

struct PairKey {
  std::uint64_t exact = 0;
  std::uint64_t near = 0;
  bool operator==(const PairKey&) const = default;
};

// The same on every machine. Which text is x, and where x ends and y begins, makes a difference.
// `scratch` keeps its memory from call to call. Texts and vectors of the same bytes have different
// keys.
[[nodiscard]] PairKey key_of(std::string_view x, std::string_view y, std::string& scratch);
// Vectors have no near duplicates: both fingerprints are of the bytes.
[[nodiscard]] PairKey key_of(std::span<const float> x, std::span<const float> y);

class RecentPairs {
 public:
  static constexpr std::size_t kMaxCapacity = std::size_t{1} << 26U;

  // Capacity 0: nothing is ever remembered. Throws beyond kMaxCapacity.
  explicit RecentPairs(std::size_t capacity);

  // reasons::kNone, kDuplicate or kNearDuplicate.
  [[nodiscard]] ReasonCode find(const PairKey& key) const;
  // Remembers a pair, and forgets the oldest if there are too many. If a pair of the same `near` is
  // there already nothing changes.
  void add(const PairKey& key) { window_.add(key); }
  // Adding so many more will not allocate.
  void reserve(std::size_t more) { window_.reserve(more); }

  [[nodiscard]] std::size_t size() const { return window_.size(); }
  [[nodiscard]] std::size_t capacity() const { return window_.capacity(); }
  // Oldest first; no two of the same `near`.
  [[nodiscard]] std::vector<PairKey> keys() const { return window_.entries(); }

  // Adds the other's pairs after these, oldest first.
  void merge(const RecentPairs& other);
  // The pairs, oldest first; the capacity is no part of it. Loading keeps the newest that fit, in
  // place of what was there; throws, and nothing changes, where save() cannot have written it.
  void save(Writer& writer) const;
  void load(Reader& reader);

 private:
  struct ByNear {
    using Entry = PairKey;
    static std::uint64_t hash(const PairKey& key, std::uint64_t salt) {
      return scatter(key.near ^ salt);
    }
    static bool is_same(const PairKey& a, const PairKey& b) { return a.near == b.near; }
  };
  HashWindow<ByNear> window_;
};

}  // namespace phsic
