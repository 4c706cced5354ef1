#include "decide/learned_pairs.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

#include "core/error.h"

namespace phsic {
namespace {

constexpr const char* kPrintsField = "pairs learned";
constexpr std::size_t kSmallestTail = 1024;
// The tail is sorted in when the sorted ones are no more than so many times as many: each is moved
// a bounded number of times then, whatever the size.
constexpr std::size_t kTailShare = 4;

}  // namespace

LearnedPairs::LearnedPairs(std::size_t most) : most_(most) {
  if (most > kMost) {
    throw Error(fmt::format("found {} pairs to remember at most, expected up to {}", most, kMost));
  }
}

void LearnedPairs::add_print(Print print) {
  // Near the end every one is looked up, so that those that come again take nobody's room.
  if (size() + kSmallestTail >= most_) {
    if (tail_.size() >= kSmallestTail) settle();
    if (has_print(print)) return;
    if (size() >= most_) settle();
    if (size() >= most_) {
      is_complete_ = false;
      return;
    }
  }
  tail_.push_back(print);
  if (tail_.size() >= std::max(kSmallestTail, sorted_.size() / kTailShare)) settle();
}

void LearnedPairs::settle() {
  if (tail_.empty()) return;
  std::sort(tail_.begin(), tail_.end());
  std::vector<Print> merged;
  merged.reserve(size());
  std::merge(sorted_.begin(), sorted_.end(), tail_.begin(), tail_.end(),
             std::back_inserter(merged));
  merged.erase(std::unique(merged.begin(), merged.end()), merged.end());
  sorted_ = std::move(merged);
  tail_.clear();
}

bool LearnedPairs::has_print(Print print) const {
  return std::binary_search(sorted_.begin(), sorted_.end(), print) ||
         std::find(tail_.begin(), tail_.end(), print) != tail_.end();
}

void LearnedPairs::merge(const LearnedPairs& other) {
  if (this == &other) return;
  for (const auto* const prints : {&other.sorted_, &other.tail_}) {
    for (const Print print : *prints) add_print(print);
  }
  is_complete_ = is_complete_ && other.is_complete_;
}

void LearnedPairs::save(Writer& writer) const {
  if (!tail_.empty()) {
    LearnedPairs settled = *this;
    settled.settle();
    settled.save(writer);
    return;
  }
  writer.number<std::uint8_t>(is_complete_);
  writer.array(sorted_);
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
  return loaded;
}

}  // namespace phsic
