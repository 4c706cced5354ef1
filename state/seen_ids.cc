#include "state/seen_ids.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <random>

#include "core/error.h"

namespace phsic {
namespace {

constexpr const char* kField = "ids seen";

}  // namespace

IdHash hash_id(std::string_view id) {
  const XXH128_hash_t hash = XXH3_128bits(id.data(), id.size());
  const IdHash found{hash.low64, hash.high64};
  return found == kNoId ? IdHash{1, 0} : found;
}

SeenIds::SeenIds(std::size_t capacity) : window_(capacity, std::random_device{}()) {
  if (capacity > kMaxCapacity) {
    throw Error(fmt::format("ids cannot be remembered: found a window of {}, expected at most {}",
                            capacity, kMaxCapacity));
  }
}

void SeenIds::save(Writer& writer) const {
  std::vector<std::uint64_t> halves;
  halves.reserve(2 * size());
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
  if (halves.size() / 2 > kMaxCapacity) {
    reader.refuse(
        kField, fmt::format("found {} ids, expected at most {}", halves.size() / 2, kMaxCapacity));
  }
  std::vector<IdHash> ids(halves.size() / 2);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    ids[i] = {halves[2 * i], halves[2 * i + 1]};
    if (ids[i] == kNoId) reader.refuse(kField, fmt::format("found no id at {}, expected one", i));
  }
  if (const auto twice = window_.assign(ids)) {
    reader.refuse(kField, fmt::format("found the id at {} twice, expected different ones", *twice));
  }
}

}  // namespace phsic
