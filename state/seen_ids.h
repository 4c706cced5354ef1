// The ids of the newest pairs: whether a pair was seen before.
//
// A window of the last `capacity` different ids, as 128-bit hashes. Memory grows with the ids up to
// about 24 to 32 bytes for each of the window; no allocation once full. Not synchronised.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/archive.h"

namespace phsic {

struct IdHash {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  auto operator<=>(const IdHash&) const = default;
};

inline constexpr IdHash kNoId{};

// XXH3-128 of the id; never kNoId.
[[nodiscard]] IdHash hash_id(std::string_view id);

class SeenIds {
 public:
  static constexpr std::size_t kMaxCapacity = std::size_t{1} << 30;

  // Capacity 0: nothing is ever remembered. Throws beyond kMaxCapacity.
  explicit SeenIds(std::size_t capacity);

  // Adds an id, and forgets the oldest if there are too many. False: it was there, and nothing
  // changes. kNoId is never there and never added.
  bool add(const IdHash& id);
  // Adding so many more will not allocate.
  void reserve(std::size_t more);
  [[nodiscard]] bool contains(const IdHash& id) const;
  [[nodiscard]] std::size_t size() const { return ring_.size(); }
  [[nodiscard]] std::size_t capacity() const { return capacity_; }
  // Oldest first.
  [[nodiscard]] std::vector<IdHash> ids() const;

  // The ids, oldest first; the capacity is no part of it. Loading keeps the newest that fit, in
  // place of what was there.
  void save(Writer& writer) const;
  void load(Reader& reader);

 private:
  // A ring of the ids and a table of open addressing with places in the ring.
  [[nodiscard]] std::size_t home(const IdHash& id) const;
  [[nodiscard]] std::size_t find(const IdHash& id) const;
  void erase(const IdHash& id);

  std::size_t capacity_;
  std::vector<IdHash> ring_;  // grows up to capacity_, then goes round
  std::size_t oldest_ = 0;    // in ring_; not 0 only when that is full
  // Places in ring_ plus 1, 0 where there is none; at most half full, its size a power of two.
  std::vector<std::uint32_t> table_;
  // Ids are chosen by others: they must not know which ones come together in the table. No part of
  // the state.
  std::uint64_t salt_;
};

}  // namespace phsic
