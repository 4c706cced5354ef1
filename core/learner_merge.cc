// How what two learners have learned is joined.
#include <fmt/format.h>

#include <algorithm>

#include "core/learner.h"
#include "core/random.h"

namespace phsic {

template <class T>
void Learner<T>::merge(const Learner& other) {
  StreamConfig same = other.config_;
  same.seed = config_.seed;
  if (same != config_) {
    throw Error(fmt::format(
        "learners cannot be merged: found another configuration ({} and {}), expected ours ({} and "
        "{}) in everything but the seed",
        other.config_.x.kernel.to_string(), other.config_.y.kernel.to_string(),
        config_.x.kernel.to_string(), config_.y.kernel.to_string()));
  }
  Learner theirs = other;
  if (!theirs.is_ready()) theirs.choose_first_pivots();
  // Both sides come under our features; where we have none, under theirs, unless they have none
  // either.
  if (!is_ready()) choose_first_pivots();
  if (!is_ready() && theirs.is_ready()) {
    adopt({x_.map == nullptr ? theirs.x_.map : nullptr, y_.map == nullptr ? theirs.y_.map : nullptr,
           theirs.x_.fit.when_chosen(), theirs.y_.fit.when_chosen()});
  }
  const auto join = [](Side& ours, Side& of_theirs, const Kernel& kernel) {
    ours.usual.join(of_theirs.usual);
    of_theirs.usual = ours.usual;
    return ours.clip_all(kernel) + of_theirs.clip_all(kernel);
  };
  clipped_ += theirs.clipped_;
  clipped_ += join(x_, theirs.x_, config_.x.kernel) + join(y_, theirs.y_, config_.y.kernel);
  if (is_ready() && theirs.is_ready()) {
    PivotChange<T> change;
    if (*theirs.x_.map != *x_.map) change.x = x_.map;
    if (*theirs.y_.map != *y_.map) change.y = y_.map;
    if (change.x != nullptr || change.y != nullptr) theirs.adopt(change);
    while (theirs.clock_.recent() > 0) {
      theirs.flush(std::min(kBlockPairs, theirs.clock_.recent()));
    }
    if (theirs.config_.seed == config_.seed && !theirs.buckets_.empty()) {
      // Neither learner comes from a merge of these two counts, so the draws are new to both.
      Random seeds(Random(scatter(config_.seed), accepted_).bits(), theirs.accepted_);
      redraw(seeds.bits());
      theirs.redraw(seeds.bits());
    }
    merge_buckets(theirs);
  }
  accepted_ += theirs.accepted_;
  refused_ += theirs.refused_;
  clock_.catch_up(theirs.clock_);
}

template <class T>
void Learner<T>::redraw(std::uint64_t seed) {
  Random seeds(seed);
  for (Bucket& bucket : buckets_) bucket.reservoir.redraw(seeds.bits());
}

// REQUIRES: the same features on both sides, and nothing recent in `theirs`.
template <class T>
void Learner<T>::merge_buckets(const Learner& theirs) {
  const Forgetting& forgetting = config_.forgetting;
  // Sequence numbers of different streams have no common clock: the newest of both are now.
  const bool by_pairs = !forgetting.by_seconds();
  const std::int64_t shift = by_pairs ? clock_.newest_bucket() - theirs.clock_.newest_bucket() : 0;
  const double later = by_pairs ? clock_.newest_number() - theirs.clock_.newest_number() : 0;
  for (const Bucket& bucket : theirs.buckets_) {
    const std::int64_t id = bucket.id + shift;
    auto place = std::find_if(buckets_.begin(), buckets_.end(),
                              [id](const Bucket& ours) { return ours.id >= id; });
    Moments moments = bucket.moments;
    moments.set_now(moments.now() + later);
    if (place != buckets_.end() && place->id == id) {
      place->moments.merge(moments);
      place->reservoir.merge(bucket.reservoir, clock_.log_fading(later));
    } else {
      const Reservoir<T>& sample = bucket.reservoir;
      Reservoir<T> shifted(sample.capacity(), sample.shape_x(), sample.shape_y());
      shifted.merge(sample, clock_.log_fading(later));
      buckets_.insert(place, Bucket{id, std::move(moments), std::move(shifted)});
    }
  }
  if (buckets_.empty()) return;
  const std::int64_t newest = buckets_.back().id;
  std::erase_if(buckets_,
                [&](const Bucket& old) { return clock_.is_before_window(old.id, newest); });
}

#define PHSIC_INSTANTIATE(T) template void Learner<T>::merge(const Learner&);
PHSIC_INSTANTIATE(float)
PHSIC_INSTANTIATE(double)
#undef PHSIC_INSTANTIATE

}  // namespace phsic
