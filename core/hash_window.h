// The newest entries of a sequence, found by their hashes: a window of the last `capacity`
// different ones.
//
// A ring of the entries, and a table with open addressing that holds places in the ring. Memory
// grows with the entries up to 8 to 16 bytes for each of the window besides the entry itself; no
// allocation once full. What entries are is said by Traits:
//
//   using Entry = ...;
//   static std::uint64_t hash(const Entry& entry, std::uint64_t salt);
//   static bool is_same(const Entry& a, const Entry& b);   // two that are have one hash
//
// Entries may be chosen by others, who must not know which ones come together in the table: hence
// the salt, which is no part of the state. A value; not synchronised.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace phsic {

template <class Traits>
class HashWindow {
 public:
  using Entry = typename Traits::Entry;

  // Capacity 0: nothing is ever remembered. REQUIRES: capacity < 2^32 - 1.
  HashWindow(std::size_t capacity, std::uint64_t salt) : capacity_(capacity), salt_(salt) {}

  // The entry that is the same as this one, null if there is none; until the next change.
  [[nodiscard]] const Entry* find(const Entry& entry) const {
    if (table_.empty()) return nullptr;
    const std::uint32_t place = table_[slot_of(entry)];
    return place == 0 ? nullptr : &ring_[place - 1];
  }

  // Adds an entry, and forgets the oldest if there are too many. False: the same was there, and
  // nothing changes.
  bool add(const Entry& entry) {
    if (capacity_ == 0) return true;
    if (find(entry) != nullptr) return false;
    std::size_t place = ring_.size();
    if (ring_.size() < capacity_) {
      reserve(1);
      ring_.push_back(entry);
    } else {
      place = oldest_;
      oldest_ = oldest_ + 1 == capacity_ ? 0 : oldest_ + 1;
      erase(ring_[place]);
      ring_[place] = entry;
    }
    table_[slot_of(entry)] = static_cast<std::uint32_t>(place + 1);
    return true;
  }

  // Adding so many more will not allocate. Nothing has changed if there is no memory.
  void reserve(std::size_t more) {
    // The ring itself must not take more than the window.
    const std::size_t size = std::min(capacity_, ring_.size() + std::min(more, capacity_));
    if (size > ring_.capacity()) {
      ring_.reserve(std::min(capacity_, std::max({kSmallestTable / 2, 2 * ring_.size(), size})));
    }
    if (2 * size <= table_.size()) return;
    std::vector<std::uint32_t> larger(std::max(kSmallestTable, std::bit_ceil(2 * size)), 0);
    table_.swap(larger);
    for (std::size_t place = 0; place < ring_.size(); ++place) {
      table_[slot_of(ring_[place])] = static_cast<std::uint32_t>(place + 1);
    }
  }

  [[nodiscard]] std::size_t size() const { return ring_.size(); }
  [[nodiscard]] std::size_t capacity() const { return capacity_; }

  // Oldest first.
  [[nodiscard]] std::vector<Entry> entries() const {
    std::vector<Entry> all(ring_.size());
    std::rotate_copy(ring_.begin(), ring_.begin() + static_cast<std::ptrdiff_t>(oldest_),
                     ring_.end(), all.begin());
    return all;
  }

  // Puts the newest of `entries` (oldest first) that fit in place of what was there. All of them
  // are checked, whether they fit or not: if one is there twice nothing changes, and its second
  // place is returned. REQUIRES: entries.size() < 2^32 - 1.
  [[nodiscard]] std::optional<std::size_t> assign(const std::vector<Entry>& entries) {
    HashWindow all(std::max(capacity_, entries.size()), salt_);
    all.reserve(entries.size());
    for (std::size_t i = 0; i < entries.size(); ++i) {
      if (!all.add(entries[i])) return i;
    }
    if (entries.size() > capacity_) {
      HashWindow newest(capacity_, salt_);
      newest.reserve(capacity_);
      for (std::size_t i = entries.size() - capacity_; i < entries.size(); ++i) {
        newest.add(entries[i]);
      }
      all = std::move(newest);
    }
    *this = std::move(all);
    return std::nullopt;
  }

 private:
  static constexpr std::size_t kSmallestTable = 16;

  [[nodiscard]] std::size_t home(const Entry& entry) const {
    return Traits::hash(entry, salt_) & (table_.size() - 1);
  }

  // Where the entry is in the table, or the free slot where it would be. REQUIRES: a table.
  [[nodiscard]] std::size_t slot_of(const Entry& entry) const {
    const std::size_t mask = table_.size() - 1;
    std::size_t slot = home(entry);
    while (table_[slot] != 0 && !Traits::is_same(ring_[table_[slot] - 1], entry)) {
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  // Takes an entry out of the table, and moves up those that it kept from their homes: a search
  // ends at the first free slot.
  void erase(const Entry& entry) {
    const std::size_t mask = table_.size() - 1;
    std::size_t hole = slot_of(entry);
    for (std::size_t slot = (hole + 1) & mask; table_[slot] != 0; slot = (slot + 1) & mask) {
      const std::size_t from_home = (slot - home(ring_[table_[slot] - 1])) & mask;
      if (from_home < ((slot - hole) & mask)) continue;
      table_[hole] = table_[slot];
      hole = slot;
    }
    table_[hole] = 0;
  }

  std::size_t capacity_;
  std::vector<Entry> ring_;  // grows up to capacity_, then goes round
  std::size_t oldest_ = 0;   // in ring_; not 0 only when that is full
  // Places in ring_ plus 1, 0 where there is none; at most half full, its size a power of two.
  std::vector<std::uint32_t> table_;
  std::uint64_t salt_;
};

}  // namespace phsic
