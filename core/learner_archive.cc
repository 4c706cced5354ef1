// How a learner is saved and read back.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/learner.h"

namespace phsic {
namespace {

// Archives of this version and later have what clipping needs.
constexpr std::uint32_t kClipsSince = 3;

}  // namespace

template <class T>
void Learner<T>::Side::save(Writer& writer) const {
  writer.number<std::uint8_t>(map != nullptr);
  if (map != nullptr) map->save(writer);
  recent.save(writer);
  fit.save(writer);
  usual.save(writer);
}

template <class T>
typename Learner<T>::Side Learner<T>::Side::load(Reader& reader) {
  Side side;
  if (reader.flag("features")) side.map = FeatureMap<T>::load(reader);
  side.recent = RecentItems<T>::load(reader);
  side.fit = PivotFit::load(reader);
  if (reader.version() >= kClipsSince) side.usual = UsualLength::load(reader);
  return side;
}

template <class T>
void Learner<T>::save(Writer& writer) const {
  config_.save(writer);
  const auto& [arrived, latest_time, has_time, times] = clock_.reading();
  for (const std::uint64_t value : {accepted_, refused_, clipped_, arrived, epoch_}) {
    writer.number(value);
  }
  writer.number(latest_time);
  writer.number<std::uint8_t>(has_time);
  x_.save(writer);
  y_.save(writer);
  writer.array(weights_);
  writer.array(times);
  writer.number(static_cast<std::uint32_t>(buckets_.size()));
  for (const Bucket& bucket : buckets_) {
    writer.number(bucket.id);
    bucket.moments.save(writer);
    bucket.reservoir.save(writer);
  }
}

template <class T>
Learner<T> Learner<T>::load(Reader& reader) {
  Learner learner(StreamConfig::load(reader));
  learner.accepted_ = reader.number<std::uint64_t>("accepted pairs");
  learner.refused_ = reader.number<std::uint64_t>("refused pairs");
  if (reader.version() >= kClipsSince) {
    learner.clipped_ = reader.number<std::uint64_t>("clipped vectors");
  }
  WindowClock::Reading clock;
  clock.arrived = reader.number<std::uint64_t>("sequence number");
  learner.epoch_ = reader.number<std::uint64_t>("epoch");
  clock.latest_time = reader.finite("latest time");
  clock.has_time = reader.flag("has time");
  learner.x_ = Side::load(reader);
  learner.y_ = Side::load(reader);
  const std::size_t recent = learner.x_.recent.size();
  learner.weights_ = reader.finite_array<double>("recent weights", recent);
  clock.times = reader.finite_array<double>("recent times", recent);
  learner.clock_ = WindowClock(learner.config_.forgetting, std::move(clock));
  const auto buckets = reader.number<std::uint32_t>("buckets");
  const std::uint32_t most =
      learner.config_.forgetting.is_window() ? learner.config_.forgetting.buckets : 1;
  if (buckets > most) {
    reader.refuse("buckets", fmt::format("found {}, expected at most {}", buckets, most));
  }
  for (std::uint32_t i = 0; i < buckets; ++i) {
    const auto id = reader.number_in<std::int64_t>("bucket", -1'000'000'000'000'000'000,
                                                   1'000'000'000'000'000'000);
    Moments moments = Moments::load(reader);
    // Older archives do not say, and pivots may have been carried over.
    const bool has_pivots = learner.config_.x.uses_pivots() || learner.config_.y.uses_pivots();
    if (reader.version() < Moments::kEstimatesSince && has_pivots) moments.mark_estimated();
    Reservoir<T> reservoir = Reservoir<T>::load(reader);
    learner.buckets_.push_back({id, std::move(moments), std::move(reservoir)});
  }
  learner.require_consistent(reader);
  return learner;
}

// The parts were checked one by one. This checks that they belong together.
template <class T>
void Learner<T>::require_consistent(const Reader& reader) const {
  const auto check = [&](bool right, const char* field, const char* why) {
    if (!right) reader.refuse(field, why);
  };
  const auto check_side = [&](const Side& side, const SideConfig& config) {
    check(side.recent.shape() == config.items, "recent items",
          "found another shape, expected the "
          "stream's");
    check(config.uses_pivots() || side.map != nullptr, "features",
          "found none, expected explicit "
          "ones");
    if (side.map == nullptr) return;
    check(side.map->item_shape() == config.items, "features",
          "found another item shape, expected the stream's");
    check((side.map->pivots() != nullptr) == config.uses_pivots(), "features",
          "found explicit ones for pivots or the reverse");
    check(side.map->kernel().to_string() == config.kernel.to_string(), "features",
          "found another kernel, expected the stream's");
  };
  check_side(x_, config_.x);
  check_side(y_, config_.y);
  const auto& [arrived, latest_time, has_time, times] = clock_.reading();
  check(x_.recent.size() == y_.recent.size(), "recent pairs", "found unequal numbers of x and y");
  check(arrived >= times.size() && accepted_ >= arrived, "accepted pairs",
        "found fewer than there are recent ones");
  check(accepted_ == 0 || !times.empty() || !buckets_.empty(), "accepted pairs",
        "found some, expected none where nothing is kept of them");
  check(
      std::is_sorted(times.begin(), times.end()) && (times.empty() || times.back() <= latest_time),
      "recent times", "found them out of order");
  check(std::abs(latest_time) <= kMaxTime && (times.empty() || times.front() >= -kMaxTime),
        "recent times", "found one out of range, expected -1e15 to 1e15");
  check(std::all_of(weights_.begin(), weights_.end(),
                    [](double w) { return w >= 0 && w <= kMaxWeight; }),
        "recent weights", "found one out of range, expected 0 to 1e6");
  check((!x_.usual.is_known() || config_.x.kernel.grows()) &&
            (!y_.usual.is_known() || config_.y.kernel.grows()),
        "usual length", "found one, expected none under a kernel that does not grow with vectors");
  check(buckets_.empty() || is_ready(), "buckets", "found some without features");
  for (std::size_t i = 0; i < buckets_.size(); ++i) {
    const Bucket& bucket = buckets_[i];
    check(i == 0 || buckets_[i - 1].id < bucket.id, "buckets", "found them out of order");
    check(bucket.moments.dim_x() == x_.map->dim() && bucket.moments.dim_y() == y_.map->dim() &&
              bucket.moments.parts() == config_.parts,
          "moments", "found other dimensions than the features'");
    check(bucket.reservoir.shape_x() == config_.x.items &&
              bucket.reservoir.shape_y() == config_.y.items,
          "reservoir", "found other item shapes than the stream's");
    check(bucket.reservoir.capacity() == bucket_capacity(), "reservoir",
          "found another capacity, expected the stream's share");
    check(bucket.moments.half_life() == config_.forgetting.half_life(), "moments",
          "found another half-life, expected the stream's");
    const auto weights = bucket.reservoir.sample_weights(clock_.log_fading(bucket.moments.now()));
    check(std::all_of(weights.begin(), weights.end(), [](double w) { return w <= kMostWeight; }),
          "reservoir", "found a pair that weighs more than any stream");
  }
}

#define PHSIC_INSTANTIATE(T)                     \
  template void Learner<T>::save(Writer&) const; \
  template Learner<T> Learner<T>::load(Reader&);
PHSIC_INSTANTIATE(float)
PHSIC_INSTANTIATE(double)
#undef PHSIC_INSTANTIATE

}  // namespace phsic
