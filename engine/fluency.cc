#include "engine/fluency.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/error.h"
#include "core/random.h"

namespace phsic {
namespace {

// The share of a word's probability that comes from the word before it.
constexpr double kNeighbourShare = 0.8;
// Counts are multiplied when an increment exceeds this.
constexpr double kLargestIncrement = 0x1p40;
// Largest count in increments: a float still counts by halves below 2^23.
constexpr double kMostCount = 0x1p23;
// More than the words of a full table.
constexpr double kMostTotal = 0x1p41;
// Counts that weigh less are forgotten when all are multiplied, so that saved ones stay few.
constexpr double kLeastWeight = 0x1p-30;
// What a text has left of a count that is its own: less than this share is rounding.
constexpr double kLeastLeft = 1e-4;
constexpr double kSumRounding = 1e-6;
// The word before the first one.
constexpr std::uint64_t kBeginning = 0x9e3779b97f4a7c15U;

double growth_of(double half_life) {
  constexpr double kFastest = 20;
  return half_life > 0 ? std::exp2(std::min(1 / half_life, kFastest)) : 1;
}

// A count without the text's own part of it.
double without(double count, double own) {
  const double left = count - own;
  return left > kLeastLeft * count ? left : 0;
}

double occurrences(const std::vector<std::uint32_t>& sorted, std::uint32_t place) {
  const auto [first, last] = std::equal_range(sorted.begin(), sorted.end(), place);
  return static_cast<double>(last - first);
}

void sort_into(const std::vector<std::uint32_t>& places, std::vector<std::uint32_t>& sorted) {
  sorted.assign(places.begin(), places.end());
  std::sort(sorted.begin(), sorted.end());
}

// Reorders the values.
Fluency::Reading summary_of(std::vector<double>& values) {
  Fluency::Reading reading;
  if (values.empty()) return reading;
  const auto count = static_cast<double>(values.size());
  reading.last = values.back();
  reading.mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  const std::size_t third = std::max<std::size_t>(1, values.size() / 3);
  const auto end = values.begin() + static_cast<std::ptrdiff_t>(third);
  std::nth_element(values.begin(), end - 1, values.end());
  reading.lowest_third = std::accumulate(values.begin(), end, 0.0) / static_cast<double>(third);
  reading.minimum = *std::min_element(values.begin(), end);
  return reading;
}

// Seven bits a byte, the lowest first; the highest bit of a byte says that more follow.
void write_gap(Writer& writer, std::uint32_t gap) {
  for (; gap >= 0x80U; gap >>= 7U) {
    writer.number(static_cast<std::uint8_t>(gap | 0x80U));
  }
  writer.number(static_cast<std::uint8_t>(gap));
}

// REQUIRES: places < 2^21, so that three bytes are enough.
std::uint32_t read_gap(Reader& reader, std::size_t places) {
  std::uint32_t gap = 0;
  for (unsigned shift = 0; shift < 21; shift += 7) {
    const auto byte = reader.number<std::uint8_t>("fluency place");
    gap |= (byte & 0x7FU) << shift;
    if (byte >= 0x80U) continue;
    const bool is_shortest = byte != 0 || shift == 0;
    if (is_shortest && gap < places) return gap;
    break;
  }
  reader.refuse("fluency place",
                fmt::format("found {} or more bytes than it needs, expected a gap below {} in as "
                            "few as it needs",
                            gap, places));
}

void save_counts(Writer& writer, const std::vector<float>& counts) {
  const auto used =
      counts.size() - static_cast<std::size_t>(std::count(counts.begin(), counts.end(), 0.0F));
  writer.number(static_cast<std::uint32_t>(used));
  std::size_t next = 0;
  for (std::size_t place = 0; place < counts.size(); ++place) {
    if (counts[place] == 0) continue;
    write_gap(writer, static_cast<std::uint32_t>(place - next));
    writer.number(counts[place]);
    next = place + 1;
  }
}

// Into counts that are all 0.
void load_counts(Reader& reader, double most, std::vector<float>& counts) {
  const auto used = reader.number_in<std::uint32_t>("fluency counts", 0,
                                                    static_cast<std::uint32_t>(counts.size()));
  std::size_t next = 0;
  for (std::uint32_t i = 0; i < used; ++i) {
    const std::size_t place = next + read_gap(reader, counts.size());
    if (place >= counts.size()) {
      reader.refuse("fluency place",
                    fmt::format("found {}, expected one below {}", place, counts.size()));
    }
    const auto count = reader.number<float>("fluency count");
    if (!(count > 0 && count <= most)) {
      reader.refuse("fluency count",
                    fmt::format("found {}, expected a positive number up to {}", count, most));
    }
    counts[place] = count;
    next = place + 1;
  }
}

double load_sum(Reader& reader, const char* field, double most) {
  const double sum = reader.finite(field);
  if (sum < 0 || sum > most) {
    reader.refuse(field, fmt::format("found {}, expected 0 to {}", sum, most));
  }
  return sum;
}

}  // namespace

Fluency::Fluency(double half_life_pairs)
    : half_life_(half_life_pairs), words_(kWordPlaces), pairs_(kPairPlaces) {
  if (!(half_life_pairs >= 0 && std::isfinite(half_life_pairs))) {
    throw Error(fmt::format("half-life of fluency: found {}, expected a number of pairs, or 0",
                            half_life_pairs));
  }
}

std::uint32_t Fluency::place_of(std::uint64_t word) {
  return static_cast<std::uint32_t>(scatter(word) >> (64 - kWordBits));
}

std::uint32_t Fluency::place_of(std::uint64_t previous, std::uint64_t word) {
  return static_cast<std::uint32_t>(scatter(scatter(previous + 1) ^ word) >> (64 - kPairBits));
}

void Fluency::learn(std::span<const std::uint64_t> words) {
  increment_ *= growth_of(half_life_);
  if (increment_ > kLargestIncrement) {
    const double factor = 1 / increment_;
    increment_ = 1;
    multiply(factor);
  }
  if (words.empty()) return;
  words = words.first(std::min(words.size(), kMostWords));
  const auto increment = static_cast<float>(increment_);
  float largest = 0;
  std::uint64_t previous = kBeginning;
  for (const auto word : words) {
    float& of_word = words_[place_of(word)];
    float& of_pair = pairs_[place_of(previous, word)];
    of_word += increment;
    of_pair += increment;
    largest = std::max({largest, of_word, of_pair});
    previous = word;
  }
  total_ += increment_ * static_cast<double>(words.size());
  texts_ += increment_;
  halve_if_large(largest);
}

void Fluency::multiply(double factor) {
  const auto by = static_cast<float>(factor);
  const auto least = static_cast<float>(kLeastWeight * increment_);
  for (auto* counts : {&words_, &pairs_}) {
    for (float& count : *counts) {
      count *= by;
      if (count < least) count = 0;
    }
  }
  total_ *= factor;
  texts_ *= factor;
}

void Fluency::halve_if_large(float largest) {
  if (largest > kMostCount * increment_) multiply(0.5);
}

void Fluency::find_places(std::span<const std::uint64_t> words, Scratch& scratch) {
  scratch.words_.clear();
  scratch.pairs_.clear();
  std::uint64_t previous = kBeginning;
  for (const auto word : words) {
    scratch.words_.push_back(place_of(word));
    scratch.pairs_.push_back(place_of(previous, word));
    previous = word;
  }
}

// `own` is what the text has added for each time that something occurs in it.
void Fluency::find_values(Scratch& scratch, double own) const {
  const auto& words = scratch.words_;
  const auto& pairs = scratch.pairs_;
  if (own > 0) {
    sort_into(words, scratch.sorted_words_);
    sort_into(pairs, scratch.sorted_pairs_);
  }
  const auto count_of_word = [&](std::uint32_t place) {
    const double count = words_[place];
    return own > 0 ? without(count, own * occurrences(scratch.sorted_words_, place)) : count;
  };
  const auto count_of_pair = [&](std::uint32_t place) {
    const double count = pairs_[place];
    return own > 0 ? without(count, own * occurrences(scratch.sorted_pairs_, place)) : count;
  };
  const double total = without(total_, own * static_cast<double>(words.size()));
  double of_previous = without(texts_, own);
  scratch.values_.clear();
  for (std::size_t i = 0; i < words.size(); ++i) {
    const double of_word = count_of_word(words[i]);
    double value = 0;
    if (of_previous > 0 && of_word > 0) {
      // Neighbours never come more often than either of them, but those who share a place may.
      const double of_both = std::min({count_of_pair(pairs[i]), of_previous, of_word});
      const double ratio = of_both / of_previous * (total / of_word);
      value = std::log(kNeighbourShare * ratio + (1 - kNeighbourShare));
    }
    scratch.values_.push_back(value);
    of_previous = of_word;
  }
}

Fluency::Reading Fluency::read(std::span<const std::uint64_t> words, Scratch& scratch,
                               double own_times) const {
  find_places(words.first(std::min(words.size(), kMostWords)), scratch);
  find_values(scratch, own_times > 0 ? own_times * increment_ : 0);
  return summary_of(scratch.values_);
}

void Fluency::merge(const Fluency& other) {
  if (other.half_life_ != half_life_) {
    throw Error(
        fmt::format("counts of fluency cannot be merged: found a half-life of {} pairs, "
                    "expected {}",
                    other.half_life_, half_life_));
  }
  const double factor = increment_ / other.increment_;
  float largest = 0;
  const auto add = [&](std::vector<float>& counts, const std::vector<float>& others) {
    for (std::size_t i = 0; i < counts.size(); ++i) {
      counts[i] += static_cast<float>(factor * others[i]);
      largest = std::max(largest, counts[i]);
    }
  };
  add(words_, other.words_);
  add(pairs_, other.pairs_);
  total_ += factor * other.total_;
  texts_ += factor * other.texts_;
  halve_if_large(largest);
}

void Fluency::save(Writer& writer) const {
  for (const double value : {half_life_, increment_, total_, texts_}) writer.number(value);
  save_counts(writer, words_);
  save_counts(writer, pairs_);
}

Fluency Fluency::load(Reader& reader) {
  const double half_life = reader.finite("fluency half-life");
  if (half_life < 0) {
    reader.refuse("fluency half-life",
                  fmt::format("found {}, expected a number of pairs, or 0", half_life));
  }
  Fluency fluency(half_life);
  fluency.increment_ = reader.finite("fluency increment");
  if (!(fluency.increment_ >= 1 && fluency.increment_ <= kLargestIncrement)) {
    reader.refuse("fluency increment",
                  fmt::format("found {}, expected 1 to {}", fluency.increment_, kLargestIncrement));
  }
  fluency.total_ = load_sum(reader, "fluency words", kMostTotal * fluency.increment_);
  fluency.texts_ = load_sum(reader, "fluency texts", fluency.total_ * (1 + kSumRounding));
  const double most = kMostCount * fluency.increment_ * (1 + kSumRounding);
  load_counts(reader, most, fluency.words_);
  load_counts(reader, most, fluency.pairs_);
  return fluency;
}

}  // namespace phsic
