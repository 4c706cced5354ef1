#include "state/seen_ids.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <random>

#include "core/error.h"
#include "core/random.h"

namespace phsic {
namespace {

constexpr std::size_t kSmallestTable = 16;
constexpr const char* kField = "ids seen";

}  // namespace

IdHash hash_id(std::string_view id) {
  const XXH128_hash_t hash = XXH3_128bits(id.data(), id.size());
  const IdHash found{hash.low64, hash.high64};
  return found == kNoId ? IdHash{1, 0} : found;
}

SeenIds::SeenIds(std::size_t capacity) : capacity_(capacity), salt_(std::random_device{}()) {
  if (capacity > kMaxCapacity) {
    throw Error(fmt::format("ids cannot be remembered: found a window of {}, expected at most {}",
                            capacity, kMaxCapacity));
  }
}

std::size_t SeenIds::home(const IdHash& id) const {
  return scatter(id.low ^ scatter(id.high ^ salt_)) & (table_.size() - 1);
}

// Where the id is in the table, or the free slot where it would be. REQUIRES: a table.
std::size_t SeenIds::find(const IdHash& id) const {
  std::size_t slot = home(id);
  while (table_[slot] != 0 && ring_[table_[slot] - 1] != id) slot = (slot + 1) % table_.size();
  return slot;
}

bool SeenIds::contains(const IdHash& id) const {
  return !table_.empty() && id != kNoId && table_[find(id)] != 0;
}

bool SeenIds::add(const IdHash& id) {
  if (id == kNoId || capacity_ == 0) return true;
  if (contains(id)) return false;
  std::size_t place = ring_.size();
  if (ring_.size() < capacity_) {
    reserve(1);
    ring_.push_back(id);
  } else {
    place = oldest_;
    oldest_ = (oldest_ + 1) % capacity_;
    erase(ring_[place]);
    ring_[place] = id;
  }
  table_[find(id)] = static_cast<std::uint32_t>(place + 1);
  return true;
}

// The ring itself must not take more than the window. Nothing has changed if there is no memory.
void SeenIds::reserve(std::size_t more) {
  const std::size_t size = std::min(capacity_, ring_.size() + std::min(more, capacity_));
  if (size > ring_.capacity()) {
    ring_.reserve(std::min(capacity_, std::max({kSmallestTable / 2, 2 * ring_.size(), size})));
  }
  if (2 * size <= table_.size()) return;
  std::vector<std::uint32_t> larger(std::max(kSmallestTable, std::bit_ceil(2 * size)), 0);
  table_.swap(larger);
  for (std::size_t place = 0; place < ring_.size(); ++place) {
    table_[find(ring_[place])] = static_cast<std::uint32_t>(place + 1);
  }
}

// Takes an id out of the table, and moves up those that it kept from their homes: a search ends at
// the first free slot.
void SeenIds::erase(const IdHash& id) {
  const std::size_t mask = table_.size() - 1;
  std::size_t hole = find(id);
  for (std::size_t slot = (hole + 1) & mask; table_[slot] != 0; slot = (slot + 1) & mask) {
    const std::size_t from_home = (slot - home(ring_[table_[slot] - 1])) & mask;
    if (from_home < ((slot - hole) & mask)) continue;
    table_[hole] = table_[slot];
    hole = slot;
  }
  table_[hole] = 0;
}

std::vector<IdHash> SeenIds::ids() const {
  std::vector<IdHash> all(ring_.size());
  std::rotate_copy(ring_.begin(), ring_.begin() + static_cast<std::ptrdiff_t>(oldest_), ring_.end(),
                   all.begin());
  return all;
}

void SeenIds::save(Writer& writer) const {
  std::vector<std::uint64_t> halves;
  halves.reserve(2 * ring_.size());
  for (const IdHash& id : ids()) {
    halves.push_back(id.low);
    halves.push_back(id.high);
  }
  writer.array(halves);
}

void SeenIds::load(Reader& reader) {
  const auto halves = reader.array<std::uint64_t>(kField);
  if (halves.size() % 2 != 0) {
    reader.refuse(kField,
                  fmt::format("found {} halves of ids, expected two of each", halves.size()));
  }
  const std::size_t count = halves.size() / 2;
  // All of them, since each is checked, whether it fits or not.
  SeenIds all(std::max(capacity_, count));
  for (std::size_t i = 0; i < count; ++i) {
    const IdHash id{halves[2 * i], halves[2 * i + 1]};
    if (id == kNoId) reader.refuse(kField, fmt::format("found no id at {}, expected one", i));
    if (!all.add(id)) {
      reader.refuse(kField, fmt::format("found the id at {} twice, expected different ones", i));
    }
  }
  if (count > capacity_) {
    SeenIds newest(capacity_);
    for (std::size_t i = count - capacity_; i < count; ++i) newest.add(all.ring_[i]);
    all = std::move(newest);
  }
  *this = std::move(all);
}

}  // namespace phsic
