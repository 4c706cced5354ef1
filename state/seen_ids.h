// The ids of the newest pairs: whether a pair was seen before.
//
// A window of the last `capacity` different ids (core/hash_window.h), as 128-bit hashes. Memory
// grows with the ids up to about 24 to 32 bytes for each of the window; no allocation once full.
// Not synchronised.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/archive.h"
#include "core/hash_window.h"
#include "core/random.h"

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
  bool add(const IdHash& id) { return id == kNoId || window_.add(id); }
  // Adding so many more will not allocate.
  void reserve(std::size_t more) { window_.reserve(more); }
  [[nodiscard]] bool contains(const IdHash& id) const {
    return id != kNoId && window_.find(id) != nullptr;
  }
  [[nodiscard]] std::size_t size() const { return window_.size(); }
  [[nodiscard]] std::size_t capacity() const { return window_.capacity(); }
  // Oldest first.
  [[nodiscard]] std::vector<IdHash> ids() const { return window_.entries(); }

  // The ids, oldest first; the capacity is no part of it. Loading keeps the newest that fit, in
  // place of what was there.
  void save(Writer& writer) const;
  void load(Reader& reader);

 private:
  struct ById {
    using Entry = IdHash;
    static std::uint64_t hash(const IdHash& id, std::uint64_t salt) {
      return scatter(id.low ^ scatter(id.high ^ salt));
    }
    static bool is_same(const IdHash& a, const IdHash& b) { return a == b; }
  };
  HashWindow<ById> window_;
};

}  // namespace phsic
