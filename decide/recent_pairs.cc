#include "decide/recent_pairs.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <random>

#include "core/error.h"
#include "text/letters_only.h"

namespace phsic {
namespace {

constexpr const char* kKeysField = "recent pairs";
// Any two numbers; saved keys depend on them.
constexpr std::uint64_t kTextSeed = 0x7465787473;
constexpr std::uint64_t kVectorSeed = 0x766563746f7273;

// The hash of two sides, their lengths included, so that nothing depends on what comes of joining
// them.
std::uint64_t pair_hash(std::uint64_t seed, std::string_view x, std::string_view y) {
  std::uint64_t hash = seed;
  for (const auto side : {x, y}) {
    hash = scatter(hash ^ XXH3_64bits_withSeed(side.data(), side.size(), seed));
    hash = scatter(hash + side.size());
  }
  return hash;
}

std::string_view bytes_of(std::span<const float> numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size_bytes()};
}

// Appends what counts of a text for the second fingerprint: its letters, with zeros for its
// numbers; of a text that is mostly digits, all its bytes. No text of one kind leaves what one of
// the other leaves: only the letters have fewer zeros than other bytes.
void append_near(std::string_view text, std::string& out) {
  const std::size_t begin = out.size();
  const std::size_t digits = text::append_letters(text, out);
  if (digits == 0) return;
  const auto left = std::string_view(out).substr(begin);
  const auto zeros = static_cast<std::size_t>(std::count(left.begin(), left.end(), '0'));
  if (digits >= left.size() - zeros) out.replace(begin, std::string::npos, text);
}

}  // namespace

PairKey key_of(std::string_view x, std::string_view y, std::string& scratch) {
  scratch.clear();
  append_near(x, scratch);
  const std::size_t x_size = scratch.size();
  append_near(y, scratch);
  const std::string_view letters = scratch;
  return {pair_hash(kTextSeed, x, y),
          pair_hash(kTextSeed, letters.substr(0, x_size), letters.substr(x_size))};
}

PairKey key_of(std::span<const float> x, std::span<const float> y) {
  const std::uint64_t hash = pair_hash(kVectorSeed, bytes_of(x), bytes_of(y));
  return {hash, hash};
}

RecentPairs::RecentPairs(std::size_t capacity) : window_(capacity, std::random_device{}()) {
  if (capacity > kMaxCapacity) {
    throw Error(fmt::format("pairs cannot be remembered: found a window of {}, expected at most {}",
                            capacity, kMaxCapacity));
  }
}

ReasonCode RecentPairs::find(const PairKey& key) const {
  const PairKey* const found = window_.find(key);
  if (found == nullptr) return reasons::kNone;
  return found->exact == key.exact ? reasons::kDuplicate : reasons::kNearDuplicate;
}

void RecentPairs::merge(const RecentPairs& other) {
  for (const PairKey& key : other.keys()) add(key);
}

void RecentPairs::save(Writer& writer) const {
  std::vector<std::uint64_t> halves;
  halves.reserve(2 * size());
  for (const PairKey& key : keys()) {
    halves.push_back(key.exact);
    halves.push_back(key.near);
  }
  writer.array(halves);
}

void RecentPairs::load(Reader& reader) {
  const auto halves = reader.array<std::uint64_t>(kKeysField);
  if (halves.size() % 2 != 0) {
    reader.refuse(kKeysField,
                  fmt::format("found {} fingerprints, expected two for each pair", halves.size()));
  }
  if (halves.size() / 2 > kMaxCapacity) {
    reader.refuse(kKeysField, fmt::format("found {} pairs, expected at most {}", halves.size() / 2,
                                          kMaxCapacity));
  }
  std::vector<PairKey> keys(halves.size() / 2);
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = {halves[2 * i], halves[2 * i + 1]};
  if (const auto twice = window_.assign(keys)) {
    reader.refuse(kKeysField,
                  fmt::format("found the pair at {} twice, expected different ones", *twice));
  }
}

}  // namespace phsic
