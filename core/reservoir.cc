#include "core/reservoir.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/random.h"

namespace phsic {
namespace {

// Up to here 1 - exp(-rate) is the rate.
constexpr double kTinyRate = 1e-12;

}  // namespace

template <class T>
Reservoir<T>::Reservoir(std::size_t capacity, ItemShape x, ItemShape y)
    : capacity_(capacity), x_(x), y_(y) {}

// Orders the heap: by key, then by sequence number, so that equal keys leave in a defined order.
template <class T>
bool Reservoir<T>::before(std::size_t a, std::size_t b) const {
  const Slot& left = slots_[a];
  const Slot& right = slots_[b];
  return left.key != right.key ? left.key < right.key : left.sequence < right.sequence;
}

template <class T>
void Reservoir<T>::restore_heap() {
  heap_.resize(slots_.size());
  std::iota(heap_.begin(), heap_.end(), std::size_t{0});
  std::make_heap(heap_.begin(), heap_.end(),
                 [this](std::size_t a, std::size_t b) { return before(a, b); });
}

// Draws by the slot and not by the sequence number, which pairs of different streams may share.
template <class T>
void Reservoir<T>::redraw(std::uint64_t seed) {
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    Slot& slot = slots_[i];
    const double uniform = Random(seed, i).uniform();
    // w tau. For tiny ones E is uniform below it, and the weight cancels out.
    const double rate = std::exp(slot.log_weight + threshold_);
    slot.key = rate < kTinyRate
                   ? std::log(uniform) + threshold_
                   : std::log(-std::log1p(uniform * std::expm1(-rate))) - slot.log_weight;
    slot.key = std::min(slot.key, threshold_);
  }
  restore_heap();
}

// Most pairs of a long stream come to nothing, and their keys need not be computed: the key is
// beyond the threshold iff uniform <= exp(-exp(threshold + log_weight)).
template <class T>
bool Reservoir<T>::is_hopeless(double log_weight, double uniform) {
  if (log_weight != hopeless_weight_ || threshold_ != hopeless_threshold_) {
    hopeless_weight_ = log_weight;
    hopeless_threshold_ = threshold_;
    hopeless_ = std::exp(-std::exp(threshold_ + log_weight));
  }
  return uniform <= hopeless_;
}

template <class T>
std::optional<std::size_t> Reservoir<T>::offer(const Items<T>& x, const Items<T>& y, std::size_t i,
                                               std::uint64_t sequence, double log_weight,
                                               double uniform) {
  if (is_hopeless(log_weight, uniform)) return std::nullopt;
  const double key = std::log(-std::log(uniform)) - log_weight;
  return admit(x, y, i, {key, log_weight, sequence, 0});
}

template <class T>
std::optional<std::size_t> Reservoir<T>::admit(const Items<T>& x, const Items<T>& y, std::size_t i,
                                               Slot slot) {
  if (capacity_ == 0 || !std::isfinite(slot.key)) return std::nullopt;
  const auto by_key = [this](std::size_t a, std::size_t b) { return before(a, b); };
  const bool full = slots_.size() == capacity_;
  if (full && slot.key >= slots_[heap_.front()].key) {
    threshold_ = std::min(threshold_, slot.key);
    return std::nullopt;
  }
  if (x_.size() >= 2 * capacity_) compact();
  slot.position = x_.size();
  if (x_.append(x, i) != Fault::kNone) return std::nullopt;
  if (y_.append(y, i) != Fault::kNone) {
    x_.drop_back();
    return std::nullopt;
  }
  std::size_t place = slots_.size();
  if (full) {
    std::pop_heap(heap_.begin(), heap_.end(), by_key);
    place = heap_.back();
    threshold_ = std::min(threshold_, slots_[place].key);
    slots_[place] = slot;
  } else {
    slots_.push_back(slot);
    heap_.push_back(place);
  }
  std::push_heap(heap_.begin(), heap_.end(), by_key);
  return place;
}

template <class T>
void Reservoir<T>::compact() {
  std::vector<std::size_t> positions;
  positions.reserve(slots_.size());
  for (Slot& slot : slots_) {
    const std::size_t old = std::exchange(slot.position, positions.size());
    positions.push_back(old);
  }
  x_ = x_.select(positions);
  y_ = y_.select(positions);
}

template <class T>
std::vector<std::uint64_t> Reservoir<T>::sequences() const {
  std::vector<std::uint64_t> all;
  all.reserve(slots_.size());
  for (const Slot& slot : slots_) all.push_back(slot.sequence);
  return all;
}

template <class T>
std::vector<double> Reservoir<T>::sample_weights(double log_now) const {
  std::vector<double> weights;
  weights.reserve(slots_.size());
  for (const Slot& slot : slots_) {
    // w tau, in which the time cancels out; infinite while nothing was displaced. For tiny ones
    // w / (1 - exp(-w tau)) is 1 / tau.
    const double rate = std::exp(slot.log_weight + threshold_);
    weights.push_back(rate < kTinyRate ? std::exp(-threshold_ - log_now)
                                       : std::exp(slot.log_weight - log_now) / -std::expm1(-rate));
  }
  return weights;
}

template <class T>
typename Reservoir<T>::Sample Reservoir<T>::sample(double log_now) const {
  std::vector<std::size_t> positions;
  Sample sample;
  sample.weights = sample_weights(log_now);
  for (const Slot& slot : slots_) {
    positions.push_back(slot.position);
    sample.sequences.push_back(slot.sequence);
  }
  sample.x = x_.select(positions);
  sample.y = y_.select(positions);
  return sample;
}

template <class T>
void Reservoir<T>::merge(const Reservoir& other, double log_shift) {
  if (other.x_.shape() != x_.shape() || other.y_.shape() != y_.shape()) {
    throw Error(fmt::format("reservoirs cannot be merged: found {} and {}, expected {} and {}",
                            other.x_.shape().to_string(), other.y_.shape().to_string(),
                            x_.shape().to_string(), y_.shape().to_string()));
  }
  threshold_ = std::min(threshold_, other.threshold_ - log_shift);
  for (Slot slot : other.slots_) {
    const std::size_t position = slot.position;
    slot.key -= log_shift;
    slot.log_weight += log_shift;
    admit(other.x_.view(), other.y_.view(), position, slot);
  }
}

template <class T>
void Reservoir<T>::save(Writer& writer) const {
  Reservoir packed = *this;
  packed.compact();
  writer.number<std::uint64_t>(capacity_);
  packed.x_.save(writer);
  packed.y_.save(writer);
  writer.number(threshold_);
  for (const Slot& slot : packed.slots_) {
    writer.number(slot.key);
    writer.number(slot.log_weight);
    writer.number(slot.sequence);
  }
}

template <class T>
Reservoir<T> Reservoir<T>::load(Reader& reader) {
  const auto capacity = reader.number<std::uint64_t>("reservoir capacity");
  Reservoir reservoir(capacity, {}, {});
  reservoir.x_ = ItemBlock<T>::load(reader);
  reservoir.y_ = ItemBlock<T>::load(reader);
  const std::size_t size = reservoir.x_.size();
  if (size != reservoir.y_.size() || size > capacity) {
    reader.refuse("reservoir", fmt::format("found {} x and {} y, expected as many, at most {}",
                                           size, reservoir.y_.size(), capacity));
  }
  reservoir.threshold_ = reader.number<double>("reservoir threshold");
  if (!(reservoir.threshold_ > -std::numeric_limits<double>::infinity())) {
    reader.refuse("reservoir threshold",
                  fmt::format("found {}, expected a number or infinity", reservoir.threshold_));
  }
  for (std::size_t i = 0; i < size; ++i) {
    Slot slot{};
    slot.key = reader.finite("reservoir key");
    slot.log_weight = reader.finite("reservoir weight");
    slot.sequence = reader.number<std::uint64_t>("reservoir sequence");
    slot.position = i;
    reservoir.slots_.push_back(slot);
  }
  reservoir.restore_heap();
  return reservoir;
}

template class Reservoir<float>;
template class Reservoir<double>;

}  // namespace phsic
