#include "decide/learned_pairs.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

#include "core/error.h"
#include "core/stream_config.h"

namespace phsic {
namespace {

constexpr const char* kPrintsField = "pairs learned";
constexpr std::size_t kMostNewest = std::size_t{2} * kMostHeldBack;

std::uint32_t print_of(const PairKey& key) { return static_cast<std::uint32_t>(key.exact >> 32U); }

}  // namespace

LearnedPairs::LearnedPairs(std::size_t most) : most_(most) {
  if (most > kMost) {
    throw Error(fmt::format("found {} pairs to remember at most, expected up to {}", most, kMost));
  }
}

void LearnedPairs::add(const PairKey& key) {
  newest_.push_back(print_of(key));
  if (newest_.size() >= kMostNewest) settle(kMostHeldBack);
}

void LearnedPairs::settle(std::size_t held_back) {
  const auto learned = newest_.size() - std::min(held_back, newest_.size());
  sort_in(newest_, learned);
  newest_.erase(newest_.begin(), newest_.begin() + static_cast<std::ptrdiff_t>(learned));
}

void LearnedPairs::sort_in(std::vector<Print> prints, std::size_t count) {
  prints.resize(count);
  std::sort(prints.begin(), prints.end());
  prints.erase(std::unique(prints.begin(), prints.end()), prints.end());
  std::erase_if(prints, [this](Print print) {
    return std::binary_search(sorted_.begin(), sorted_.end(), print);
  });
  if (const auto room = most_ - sorted_.size(); prints.size() > room) {
    prints.resize(room);
    is_complete_ = false;
  }
  std::vector<Print> merged;
  merged.reserve(sorted_.size() + prints.size());
  std::merge(sorted_.begin(), sorted_.end(), prints.begin(), prints.end(),
             std::back_inserter(merged));
  sorted_ = std::move(merged);
}

bool LearnedPairs::contains(const PairKey& key) const {
  return std::binary_search(sorted_.begin(), sorted_.end(), print_of(key));
}

void LearnedPairs::merge(const LearnedPairs& other) {
  if (this == &other) return;
  sort_in(other.sorted_, other.sorted_.size());
  sort_in(other.newest_, other.newest_.size());
  is_complete_ = is_complete_ && other.is_complete_;
}

void LearnedPairs::save(Writer& writer) const {
  writer.number<std::uint8_t>(is_complete_);
  writer.array(sorted_);
  writer.array(newest_);
}

LearnedPairs LearnedPairs::load(Reader& reader) {
  LearnedPairs loaded;
  loaded.is_complete_ = reader.flag("all pairs learned are there");
  loaded.sorted_ = reader.array<Print>(kPrintsField);
  const auto& prints = loaded.sorted_;
  if (prints.size() > kMost) {
    reader.refuse(kPrintsField,
                  fmt::format("found {} pairs, expected at most {}", prints.size(), kMost));
  }
  const auto bad = std::adjacent_find(prints.begin(), prints.end(), std::greater_equal<>());
  if (bad != prints.end()) {
    reader.refuse(kPrintsField, fmt::format("found {} after {}, expected them in ascending order",
                                            bad[1], bad[0]));
  }
  loaded.newest_ = reader.array<Print>("newest pairs");
  if (loaded.newest_.size() >= kMostNewest) {
    reader.refuse("newest pairs", fmt::format("found {}, expected fewer than {}",
                                              loaded.newest_.size(), kMostNewest));
  }
  return loaded;
}

}  // namespace phsic
