#include "core/learner.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/kernel_columns.h"
#include "core/random.h"

namespace phsic {
namespace {

// At most this share of the stream's memory is held back.
constexpr double kHeldBackMemory = 0.25;

}  // namespace

template <class T>
double Learner<T>::Side::squared_length(std::size_t recent_index) const {
  return phsic::squared_length(recent.block_at(recent_index).view(), recent_index % kBlockPairs);
}

template <class T>
bool Learner<T>::Side::clip(const Kernel& kernel, std::size_t recent_index) {
  const double factor = usual.factor(kernel, squared_length(recent_index));
  if (factor < 1) recent.scale(recent_index, static_cast<T>(factor));
  return factor < 1;
}

template <class T>
std::size_t Learner<T>::Side::clip_all(const Kernel& kernel) {
  std::size_t clipped = 0;
  if (!usual.is_known()) return clipped;
  for (std::size_t i = 0; i < recent.size(); ++i) clipped += clip(kernel, i) ? 1 : 0;
  return clipped;
}

template <class T>
std::size_t Learner<T>::Side::clip_newest(const Kernel& kernel) {
  if (!kernel.grows()) return 0;
  const std::size_t size = recent.size();
  if (usual.is_known()) {
    const double length = squared_length(size - 1);
    const bool is_clipped = clip(kernel, size - 1);
    usual.follow(length);
    return is_clipped ? 1 : 0;
  }
  if (size % UsualLength::kCompared != 0) return 0;
  std::vector<double> lengths(size);
  for (std::size_t i = 0; i < size; ++i) lengths[i] = squared_length(i);
  usual.begin(std::move(lengths));
  return clip_all(kernel);
}

template <class T>
Learner<T>::Learner(const StreamConfig& config) : config_(config), clock_(config.forgetting) {
  config.validate();
  const auto prepare = [](Side& side, const SideConfig& of) {
    side.recent = RecentItems<T>(of.items);
    if (!of.uses_pivots()) side.map = std::make_shared<const FeatureMap<T>>(of.kernel, of.items);
  };
  prepare(x_, config.x);
  prepare(y_, config.y);
}

template <class T>
Fault Learner<T>::accept(const Items<T>& x, const Items<T>& y, std::size_t i, double weight,
                         double time) {
  if (!(weight >= 0 && weight <= kMaxWeight)) return Fault::kBadWeight;
  if (!(std::abs(time) <= kMaxTime)) return Fault::kBadTime;
  // Unbounded kernels may overflow where the item itself does not.
  const auto overflows = [i](const SideConfig& side, const Items<T>& items) {
    return side.uses_pivots() && !side.kernel.is_bounded() &&
           !(self_kernel(side.kernel, items, i) <= kMaxMagnitude * kMaxMagnitude);
  };
  if (const Fault fault = x_.recent.append(x, i); fault != Fault::kNone) return fault;
  const Fault fault = overflows(config_.x, x) ? Fault::kTooLarge : y_.recent.append(y, i);
  if (fault != Fault::kNone) {
    x_.recent.drop_back();
    return fault;
  }
  if (overflows(config_.y, y)) {
    x_.recent.drop_back();
    y_.recent.drop_back();
    return Fault::kTooLarge;
  }
  return Fault::kNone;
}

template <class T>
std::size_t Learner<T>::learn(const Items<T>& x, const Items<T>& y, const double* weights,
                              const double* times, Fault* faults) {
  const std::size_t rows = row_count(x);
  std::size_t learned = 0;
  for (std::size_t i = 0; i < rows; ++i) {
    const double weight = weights == nullptr ? 1 : weights[i];
    const double time = times == nullptr ? clock_.latest_time() : times[i];
    const Fault fault = accept(x, y, i, weight, time);
    if (faults != nullptr) faults[i] = fault;
    if (fault != Fault::kNone) {
      ++refused_;
      continue;
    }
    clock_.arrive(time);
    weights_.push_back(weight);
    ++accepted_;
    ++learned;
    clipped_ += x_.clip_newest(config_.x.kernel) + y_.clip_newest(config_.y.kernel);
    if (!is_ready() && weights_.size() >= config_.reservoir) choose_first_pivots();
    if (weights_.size() >= config_.held_back + 2 * kBlockPairs) flush_ready();
  }
  flush_ready();
  return learned;
}

template <class T>
void Learner<T>::choose_first_pivots() {
  if (const auto change = propose_pivots()) adopt(*change);
}

template <class T>
std::size_t Learner<T>::held_back() const {
  double most =
      std::min<double>(config_.held_back, kHeldBackShare * static_cast<double>(accepted_));
  const Forgetting& forgetting = config_.forgetting;
  if (forgetting.mode == Forgetting::Mode::kHalfLifePairs ||
      forgetting.mode == Forgetting::Mode::kWindowPairs) {
    most = std::min(most, kHeldBackMemory * forgetting.span);
  }
  std::size_t count = std::min(static_cast<std::size_t>(most), clock_.recent());
  if (forgetting.by_seconds()) {
    const double oldest = clock_.latest_time() - kHeldBackMemory * forgetting.span;
    count = std::min(count, clock_.recent_since(oldest));
  }
  return count;
}

template <class T>
ItemBlock<T> Learner<T>::held_back_x() const {
  return x_.recent.from(x_.recent.size() - held_back());
}

template <class T>
ItemBlock<T> Learner<T>::held_back_y() const {
  return y_.recent.from(y_.recent.size() - held_back());
}

// A bucket's share of the reservoir.
template <class T>
std::size_t Learner<T>::bucket_capacity() const {
  return std::max<std::size_t>(1, config_.reservoir / clock_.bucket_count());
}

template <class T>
void Learner<T>::flush_ready() {
  while (is_ready() && clock_.recent() >= held_back() + kBlockPairs) flush(kBlockPairs);
}

// Moves the `count` oldest recent pairs into the moments and offers them to the reservoir.
template <class T>
void Learner<T>::flush(std::size_t count) {
  // A block belongs to the bucket of its last pair.
  Bucket& bucket = bucket_for(clock_.bucket_at(clock_.arrival(count - 1)));
  add_recent(bucket.moments, 0, count, scratch_);
  x_.fit.remember(scratch_.x, weights_.data());
  y_.fit.remember(scratch_.y, weights_.data());

  const Items<T> x = x_.recent.block_at(0).view();
  const Items<T> y = y_.recent.block_at(0).view();
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t number = clock_.number(i);
    const double log_weight = std::log(weights_[i]) + clock_.log_fading(clock_.arrival(i));
    bucket.reservoir.offer(x, y, i, number, log_weight, Random(config_.seed, number).uniform());
  }
  x_.recent.drop_front_block();
  y_.recent.drop_front_block();
  weights_.erase(weights_.begin(), weights_.begin() + static_cast<std::ptrdiff_t>(count));
  clock_.drop_oldest(count);
}

// The bucket of this id, which is opened if there is none. Drops the buckets that have left the
// window.
template <class T>
typename Learner<T>::Bucket& Learner<T>::bucket_for(std::int64_t id) {
  const auto place = std::find_if(buckets_.begin(), buckets_.end(),
                                  [id](const Bucket& bucket) { return bucket.id >= id; });
  if (place != buckets_.end() && place->id == id) return *place;
  Bucket bucket{
      id, Moments(x_.map->dim(), y_.map->dim(), config_.parts, config_.forgetting.half_life()),
      Reservoir<T>(bucket_capacity(), config_.x.items, config_.y.items)};
  if (!buckets_.empty()) {
    bucket.moments.move_origin(buckets_.back().moments.origin_x(),
                               buckets_.back().moments.origin_y());
  }
  const auto inserted = buckets_.insert(place, std::move(bucket));
  const std::ptrdiff_t opened = inserted - buckets_.begin();
  const auto past = std::min<std::ptrdiff_t>(
      opened, std::count_if(buckets_.begin(), buckets_.end(), [&](const Bucket& old) {
        return clock_.is_before_window(old.id, buckets_.back().id);
      }));
  buckets_.erase(buckets_.begin(), buckets_.begin() + past);
  return buckets_[static_cast<std::size_t>(opened - past)];
}

// Where the sums of a stream begin: at 0 for sparse features and for short ones, else at the mean
// of the first block, so that a mean far from 0 costs no digits.
template <class T>
Eigen::VectorXd Learner<T>::origin_for(const FeatureMap<T>& map, const Items<T>& features) {
  const auto dim = static_cast<Eigen::Index>(map.dim());
  Eigen::VectorXd mean = Eigen::VectorXd::Zero(dim);
  const auto* dense = std::get_if<DenseRows<T>>(&features);
  if (dense == nullptr || map.kernel().is_bounded()) return mean;
  for (std::size_t i = 0; i < dense->rows; ++i) {
    mean += Eigen::Map<const Eigen::Matrix<T, Eigen::Dynamic, 1>>(dense->row(i), dim)
                .template cast<double>();
  }
  mean /= static_cast<double>(dense->rows);
  // In the features' own precision, in which it will be subtracted.
  return mean.template cast<T>().template cast<double>();
}

// Adds `count` recent pairs from `first` on, weighed as of the last of them. Leaves their features
// in `scratch`.
template <class T>
void Learner<T>::add_recent(Moments& moments, std::size_t first, std::size_t count,
                            Scratch& scratch) const {
  const Items<T> x = x_.recent.block_at(first).view();
  const Items<T> y = y_.recent.block_at(first).view();
  const std::size_t offset = first % kBlockPairs;
  x_.map->map(slice(x, offset, count), scratch.x, scratch.workspace);
  y_.map->map(slice(y, offset, count), scratch.y, scratch.workspace);
  // After a merge the moments may be of a later time than our own pairs.
  double now = clock_.arrival(first + count - 1);
  if (moments.pairs() > 0) now = std::max(now, moments.now());
  if (accepted_ == clock_.recent() && moments.pairs() == 0) {
    moments.move_origin(origin_for(*x_.map, scratch.x.features),
                        origin_for(*y_.map, scratch.y.features));
  }
  if (moments.pairs() == 0) moments.set_now(now);
  moments.advance(now);
  const double* begin = weights_.data() + first;
  const bool all_one = std::all_of(begin, begin + count, [](double w) { return w == 1; });
  if (all_one && clock_.fading(first, now) == 0) {
    moments.add(scratch.x.features, scratch.y.features, nullptr, scratch.workspace);
    return;
  }
  Workspace::Buffer<double> weights(scratch.workspace, count);
  for (std::size_t i = 0; i < count; ++i) {
    weights[i] = begin[i] * std::exp2(clock_.fading(first + i, now));
  }
  moments.add(scratch.x.features, scratch.y.features, weights.data(), scratch.workspace);
}

template <class T>
Moments Learner<T>::moments(Extent extent) const {
  if (!is_ready()) return {0, 0, config_.parts};
  Moments total(x_.map->dim(), y_.map->dim(), config_.parts, config_.forgetting.half_life());
  bool first_one = true;
  for (const Bucket& bucket : buckets_) {
    if (clock_.is_past(bucket.id)) continue;
    if (first_one) {
      total = bucket.moments;
    } else {
      total.merge(bucket.moments);
    }
    first_one = false;
  }
  // The incomplete block, and the pairs held back if they are wanted, go into the copy only.
  Scratch scratch;
  const std::size_t end = clock_.recent() - (extent == Extent::kAll ? 0 : held_back());
  for (std::size_t first = clock_.recent_past(); first < end;) {
    const std::size_t block_end = (first / kBlockPairs + 1) * kBlockPairs;
    const std::size_t count = std::min(block_end, end) - first;
    add_recent(total, first, count, scratch);
    first += count;
  }
  return total;
}

template <class T>
double Learner<T>::effective_pairs() const {
  double weight = 0;
  double squared = 0;
  for (const Bucket& bucket : buckets_) {
    if (clock_.is_past(bucket.id)) continue;
    weight += bucket.moments.weight();
    squared += bucket.moments.squared_weight();
  }
  const auto recent = static_cast<double>(clock_.recent());
  weight += recent;
  squared += recent;
  return squared > 0 ? weight * weight / squared : 0;
}

template <class T>
std::vector<std::uint64_t> Learner<T>::kept_numbers() const {
  std::vector<std::uint64_t> numbers;
  for (const Bucket& bucket : buckets_) {
    const auto sampled = bucket.reservoir.sequences();
    numbers.insert(numbers.end(), sampled.begin(), sampled.end());
  }
  std::sort(numbers.begin(), numbers.end());
  for (std::size_t i = 0; i < clock_.recent(); ++i) numbers.push_back(clock_.number(i));
  return numbers;
}

template <class T>
typename Reservoir<T>::Sample Learner<T>::sample() const {
  typename Reservoir<T>::Sample all;
  all.x = ItemBlock<T>(config_.x.items);
  all.y = ItemBlock<T>(config_.y.items);
  for (const Bucket& bucket : buckets_) {
    if (clock_.is_past(bucket.id)) continue;
    const auto part = bucket.reservoir.sample(clock_.log_fading(bucket.moments.now()));
    all.x.append_all(part.x);
    all.y.append_all(part.y);
    all.weights.insert(all.weights.end(), part.weights.begin(), part.weights.end());
    all.sequences.insert(all.sequences.end(), part.sequences.begin(), part.sequences.end());
  }
  return all;
}

template <class T>
typename Reservoir<T>::Sample Learner<T>::sample_with_recent(Extent extent) const {
  auto all = sample();
  const std::size_t first = clock_.recent_past();
  const std::size_t end = clock_.recent() - (extent == Extent::kAll ? 0 : held_back());
  if (first >= end) return all;
  ItemBlock<T> recent_x = x_.recent.from(first);
  ItemBlock<T> recent_y = y_.recent.from(first);
  for (std::size_t i = end; i < clock_.recent(); ++i) {
    recent_x.drop_back();
    recent_y.drop_back();
  }
  // As of the newest: after a long silence, the recent pairs as of the moments' time would weigh
  // infinitely much.
  double now = clock_.arrival(clock_.recent() - 1);
  if (!buckets_.empty()) {
    const double moments_now = buckets_.back().moments.now();
    const double silence = std::max(clock_.fading(clock_.recent() - 1, moments_now), 0.0);
    for (double& weight : all.weights) weight *= std::exp2(-silence);
    now = std::max(now, moments_now);
  }
  all.x.append_all(recent_x);
  all.y.append_all(recent_y);
  for (std::size_t i = first; i < end; ++i) {
    all.weights.push_back(weights_[i] * std::exp2(clock_.fading(i, now)));
    all.sequences.push_back(clock_.number(i));
  }
  return all;
}

template <class T>
bool Learner<T>::wants_pivots() const {
  const PivotPolicy<T> policy(config_);
  if (!policy.uses_pivots()) return false;
  const auto all = sample_with_recent(Extent::kAll);
  return policy.wants_pivots({config_.x, x_.map.get(), x_.fit, all.x}, all.weights) ||
         policy.wants_pivots({config_.y, y_.map.get(), y_.fit, all.y}, all.weights);
}

template <class T>
std::optional<PivotChange<T>> Learner<T>::propose_pivots() const {
  const PivotPolicy<T> policy(config_);
  if (!policy.uses_pivots()) return std::nullopt;
  const auto all = sample_with_recent(Extent::kAll);
  return policy.propose({config_.x, x_.map.get(), x_.fit, all.x},
                        {config_.y, y_.map.get(), y_.fit, all.y}, all.weights, epoch_);
}

template <class T>
void Learner<T>::adopt(const PivotChange<T>& change) {
  const auto require_fits = [](const SideConfig& side, const FeatureMap<T>* map) {
    if (map == nullptr) return;
    if (map->item_shape() != side.items || !side.uses_pivots() || map->pivots() == nullptr ||
        map->kernel().to_string() != side.kernel.to_string()) {
      throw Error(fmt::format("pivots do not fit the stream: found {} for {}, expected {} for {}",
                              map->kernel().to_string(), map->item_shape().to_string(),
                              side.kernel.to_string(), side.items.to_string()));
    }
  };
  require_fits(config_.x, change.x.get());
  require_fits(config_.y, change.y.get());
  const auto new_x = change.x == nullptr ? x_.map : change.x;
  const auto new_y = change.y == nullptr ? y_.map : change.y;
  // On a copy: if anything fails, all is as it was.
  std::vector<Bucket> carried = buckets_;
  for (Bucket& bucket : carried) {
    const auto sample = bucket.reservoir.sample(clock_.log_fading(bucket.moments.now()));
    const FeaturePair<T> from{*x_.map, *y_.map};
    const FeaturePair<T> to{*new_x, *new_y};
    if (x_.map->kernel() == new_x->kernel() && y_.map->kernel() == new_y->kernel()) {
      carry_over(bucket.moments, from, to, sample, scratch_.workspace);
    } else {
      rebuild(bucket.moments, to, sample, scratch_.workspace);
    }
  }
  buckets_ = std::move(carried);
  const auto replace = [](Side& side, const std::shared_ptr<const FeatureMap<T>>& map,
                          double unexplained) {
    if (map == nullptr) return;
    side.map = map;
    side.fit.restart(unexplained);
  };
  replace(x_, change.x, change.unexplained_x);
  replace(y_, change.y, change.unexplained_y);
  ++epoch_;
  flush_ready();
}

template class Learner<float>;
template class Learner<double>;

}  // namespace phsic
