#include "core/pmi.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>
#include <vector>

#include "core/random.h"

namespace phsic {
namespace {

constexpr std::size_t kMostCounts = std::size_t{1} << 26;
// Tables may exceed the capacity by this share before they are cut back, so that the cost of
// cutting is spread over many pairs.
constexpr std::size_t kSlack = 4;
// Decay is applied to the counts themselves once its lazy factor falls below this.
constexpr double kSmallestScale = 1e-100;

}  // namespace

CountPmi::CountPmi(std::size_t capacity, double prior) : capacity_(capacity), prior_(prior) {
  if (capacity < 1 || capacity > kMostCounts) {
    throw Error(fmt::format("pmi capacity: found {}, expected 1 to {}", capacity, kMostCounts));
  }
  if (!(prior >= 0 && prior <= kMostWeight)) {
    throw Error(fmt::format("pmi prior: found {}, expected 0 to {}", prior, kMostWeight));
  }
}

CountPmi::Key CountPmi::key_of(std::string_view text) {
  const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  return {hash.low64, hash.high64};
}

CountPmi::Key CountPmi::key_of(const Key& x, const Key& y) {
  return {scatter(x.low + scatter(y.low)), scatter(x.high ^ scatter(y.high + 1))};
}

std::size_t CountPmi::Table::most_counts(std::size_t capacity) {
  return capacity + capacity / kSlack;
}

std::pair<CountPmi::Table::Place, bool> CountPmi::Table::make_place(const Key& key,
                                                                    std::size_t capacity) {
  if (counts_.size() == most_counts(capacity)) values_.reserve(counts_.size() + 1);
  return counts_.try_emplace(key, 0.0);
}

void CountPmi::Table::add(Place place, double count, std::size_t capacity) {
  place->second += count;
  if (counts_.size() > most_counts(capacity)) shrink(capacity);
}

// Subtracts from all counts the one that would be first to fall out, and drops what is left at
// zero: everything then fits, and no count is more than error_ too low.
void CountPmi::Table::shrink(std::size_t capacity) {
  if (counts_.size() <= capacity) return;
  values_.clear();
  values_.reserve(counts_.size());
  for (const auto& [key, count] : counts_) values_.push_back(count);
  const auto place = values_.begin() + static_cast<std::ptrdiff_t>(capacity);
  std::nth_element(values_.begin(), place, values_.end(), std::greater<>());
  const double cut = *place;
  for (auto& [key, count] : counts_) count -= cut;
  std::erase_if(counts_, [](const auto& entry) { return entry.second <= 0; });
  error_ += cut;
  std::vector<double>().swap(values_);
}

void CountPmi::Table::merge(const Table& other, double factor, std::size_t capacity) {
  for (const auto& [key, count] : other.counts_) counts_[key] += factor * count;
  error_ += factor * other.error_;
  if (counts_.size() > most_counts(capacity)) shrink(capacity);
}

void CountPmi::Table::multiply(double factor) {
  for (auto& [key, count] : counts_) count *= factor;
  std::erase_if(counts_, [](const auto& entry) { return entry.second <= 0; });
  error_ *= factor;
}

double CountPmi::Table::count(const Key& key) const {
  const auto found = counts_.find(key);
  return found == counts_.end() ? 0 : found->second;
}

Fault CountPmi::learn(std::string_view x, std::string_view y, double weight, double fade) {
  if (!(weight >= 0 && weight <= kMaxWeight)) return Fault::kBadWeight;
  // Rescaling is rare. It comes before places are made, because it drops counts of 0.
  if (would_rescale(fade)) decay(std::exchange(fade, 1));
  if (weight == 0) {
    decay(fade);
    return Fault::kNone;
  }
  const Key key_x = key_of(x);
  const Key key_y = key_of(y);
  const std::pair<Table*, Key> counted[] = {
      {&x_, key_x}, {&y_, key_y}, {&xy_, key_of(key_x, key_y)}};
  std::pair<Table::Place, bool> places[3];
  std::size_t made = 0;
  try {
    for (; made < 3; ++made) {
      places[made] = counted[made].first->make_place(counted[made].second, capacity_);
    }
  } catch (...) {
    while (made-- > 0) {
      if (places[made].second) counted[made].first->remove(places[made].first);
    }
    throw;
  }
  decay(fade);
  const double count = weight / scale_;
  total_ += count;
  for (std::size_t k = 0; k < 3; ++k) counted[k].first->add(places[k].first, count, capacity_);
  return Fault::kNone;
}

double CountPmi::score(std::string_view x, std::string_view y) const {
  const Key key_x = key_of(x);
  const Key key_y = key_of(y);
  const double count_x = x_.count(key_x);
  const double count_y = y_.count(key_y);
  if (count_x == 0 || count_y == 0) return 0;
  // Counts and total carry the same lazy factor, which cancels; the prior is in true pairs.
  const double prior = prior_ / scale_;
  const double joint = xy_.count(key_of(key_x, key_y));
  // c(x,y) / p(x) p(y), factor by factor: p(x) p(y) alone may underflow to 0.
  const double ratio = joint / count_x * total_ / count_y * total_;
  return std::log((ratio + prior) / (total_ + prior));
}

void CountPmi::decay(double factor) {
  const bool rescales = would_rescale(factor);
  scale_ *= factor;
  if (rescales) rescale();
}

bool CountPmi::would_rescale(double factor) const { return scale_ * factor < kSmallestScale; }

void CountPmi::rescale() {
  for (Table* table : {&x_, &y_, &xy_}) table->multiply(scale_);
  total_ *= scale_;
  scale_ = 1;
}

void CountPmi::merge(const CountPmi& other) {
  if (other.capacity_ != capacity_ || other.prior_ != prior_) {
    throw Error(
        fmt::format("pmi counts cannot be merged: found capacity {} and prior {}, expected "
                    "{} and {}",
                    other.capacity_, other.prior_, capacity_, prior_));
  }
  const double factor = other.scale_ / scale_;
  total_ += factor * other.total_;
  x_.merge(other.x_, factor, capacity_);
  y_.merge(other.y_, factor, capacity_);
  xy_.merge(other.xy_, factor, capacity_);
}

double CountPmi::error() const { return scale_ * std::max({x_.error(), y_.error(), xy_.error()}); }

// In the order of the keys, so that equal tables are equal bytes.
void CountPmi::Table::save(Writer& writer) const {
  std::vector<std::pair<Key, double>> entries(counts_.begin(), counts_.end());
  std::sort(entries.begin(), entries.end());
  writer.number(error_);
  writer.number<std::uint64_t>(entries.size());
  for (const auto& [key, count] : entries) {
    writer.number(key.low);
    writer.number(key.high);
    writer.number(count);
  }
}

CountPmi::Table CountPmi::Table::load(Reader& reader, std::size_t capacity, double total) {
  // No part is larger than the whole, but for rounding.
  const double most = total * (1 + 1e-6);
  Table table;
  table.error_ = reader.finite("pmi error");
  if (table.error_ < 0 || table.error_ > most) {
    reader.refuse("pmi error", fmt::format("found {}, expected 0 to {}", table.error_, total));
  }
  const auto size = reader.number_in<std::uint64_t>("pmi counts", 0, most_counts(capacity));
  for (std::uint64_t i = 0; i < size; ++i) {
    Key key{};
    key.low = reader.number<std::uint64_t>("pmi key");
    key.high = reader.number<std::uint64_t>("pmi key");
    const double count = reader.finite("pmi count");
    if (!(count > 0) || count > most || !table.counts_.emplace(key, count).second) {
      reader.refuse("pmi count", fmt::format("found {} or a key twice, expected a positive count "
                                             "up to {} for each key",
                                             count, total));
    }
  }
  return table;
}

void CountPmi::save(Writer& writer) const {
  writer.number<std::uint64_t>(capacity_);
  for (const double value : {prior_, scale_, total_}) writer.number(value);
  for (const Table* table : {&x_, &y_, &xy_}) table->save(writer);
}

CountPmi CountPmi::load(Reader& reader) {
  const auto capacity = reader.number<std::uint64_t>("pmi capacity");
  CountPmi pmi(capacity, reader.finite("pmi prior"));
  pmi.scale_ = reader.finite("pmi scale");
  pmi.total_ = reader.finite("pmi total");
  if (pmi.scale_ < kSmallestScale || pmi.scale_ > 1) {
    reader.refuse("pmi scale",
                  fmt::format("found {}, expected {} to 1", pmi.scale_, kSmallestScale));
  }
  if (pmi.total_ < 0 || pmi.weight() > kMostWeight) {
    reader.refuse("pmi total",
                  fmt::format("found {}, expected 0 to {}", pmi.weight(), kMostWeight));
  }
  pmi.x_ = Table::load(reader, capacity, pmi.total_);
  pmi.y_ = Table::load(reader, capacity, pmi.total_);
  pmi.xy_ = Table::load(reader, capacity, pmi.total_);
  return pmi;
}

}  // namespace phsic
