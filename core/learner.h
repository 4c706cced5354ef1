// The state of a stream: everything learned so far, in constant memory.
//
//   pair -> recent pairs (the newest held back for self-measurement)
//        -> blocks of 256 by sequence number -> features -> moments, reservoir
//
// The state is a function of the pairs, their weights and arrival times, the pivot changes adopted
// and the seed: how the pairs were batched does not matter. A Learner is a value: copy it to freeze
// it, and build estimators from the copy in another thread (refresh.h). One thread at a time may
// use one Learner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "core/archive.h"
#include "core/carry.h"
#include "core/clip.h"
#include "core/features.h"
#include "core/moments.h"
#include "core/pivot_policy.h"
#include "core/recent.h"
#include "core/reservoir.h"
#include "core/stream_config.h"
#include "core/window_clock.h"
#include "core/workspace.h"

namespace phsic {

// At most this share of a stream is held back.
inline constexpr double kHeldBackShare = 0.2;

template <class T>
class Learner {
 public:
  // Throws if the configuration makes no sense.
  explicit Learner(const StreamConfig& config);

  [[nodiscard]] const StreamConfig& config() const { return config_; }

  // Learns row i of x with row i of y, weighing weights[i] (null: 1), arrived at times[i] seconds
  // (null: the time of the pair before). Times never run backwards: an earlier one counts as the
  // latest so far. A bad pair is refused, changes nothing but the count of refused ones, and has
  // its fault in faults[i] (may be null). Returns how many were accepted. REQUIRES: as many rows of
  // x as of y; arrays as long.
  std::size_t learn(const Items<T>& x, const Items<T>& y, const double* weights,
                    const double* times, Fault* faults);

  [[nodiscard]] std::uint64_t accepted() const { return accepted_; }
  [[nodiscard]] std::uint64_t refused() const { return refused_; }
  // How many vectors were shortened, being far longer than is usual (clip.h).
  [[nodiscard]] std::uint64_t clipped() const { return clipped_; }
  // How often the pivots have changed.
  [[nodiscard]] std::uint64_t epoch() const { return epoch_; }

  // Null until pivots were chosen, on a side that needs them.
  [[nodiscard]] const std::shared_ptr<const FeatureMap<T>>& map_x() const { return x_.map; }
  [[nodiscard]] const std::shared_ptr<const FeatureMap<T>>& map_y() const { return y_.map; }

  // The running mean residual as a share of the mean k(x,x) over the last few thousand pairs: how
  // badly the pivots describe what arrives now. 0 without pivots.
  [[nodiscard]] double unexplained_x() const { return x_.fit.unexplained(); }
  [[nodiscard]] double unexplained_y() const { return y_.fit.unexplained(); }

  // Do the pivots have to be chosen, or chosen anew?
  [[nodiscard]] bool wants_pivots() const;
  // Chooses them from the reservoir and the recent pairs. Empty when none are wanted or there are
  // no pairs to choose from.
  [[nodiscard]] std::optional<PivotChange<T>> propose_pivots() const;
  // Carries everything over to the new features. Throws unless they fit the stream's items.
  void adopt(const PivotChange<T>& change);

  // How many of the newest pairs are held back from the moments now.
  [[nodiscard]] std::size_t held_back() const;
  [[nodiscard]] ItemBlock<T> held_back_x() const;
  [[nodiscard]] ItemBlock<T> held_back_y() const;

  // The moments of all pairs but those held back, or of all. Before the first pivots: of none.
  using Extent = PairExtent;
  [[nodiscard]] Moments moments(Extent extent) const;

  // About how many pairs count: n_eff of those in the moments, and recent ones as if each
  // weighed 1.
  [[nodiscard]] double effective_pairs() const;

  // The number that the next pair gets. Pairs that were merged in have no number here.
  [[nodiscard]] std::uint64_t next_number() const { return clock_.next_number(); }
  // The numbers of all pairs that are in the sample or may still come into it, ascending.
  [[nodiscard]] std::vector<std::uint64_t> kept_numbers() const;

  // The sampled pairs, weighed as of now.
  [[nodiscard]] typename Reservoir<T>::Sample sample() const;
  // The sampled pairs and those recent ones that moments(extent) has, weighed as of the newest
  // pair.
  [[nodiscard]] typename Reservoir<T>::Sample sample_with_recent(Extent extent) const;

  // Adds all that another learner has learned from other pairs. Its held-back pairs are folded in.
  // If its pivots differ, its sums are carried over to ours. If forgetting is by pairs, the newest
  // pairs of both count as of the same moment. If both have the same seed, both samples were drawn
  // with the same random numbers, so they are drawn anew. Throws unless kernels, items, moments and
  // forgetting are the same.
  void merge(const Learner& other);

  static constexpr std::string_view kArchiveKind = sizeof(T) == 4 ? "LRNf" : "LRNd";
  void save(Writer& writer) const;
  [[nodiscard]] static Learner load(Reader& reader);

 private:
  struct Side {
    std::shared_ptr<const FeatureMap<T>> map;
    PivotFit fit;
    UsualLength usual;      // of vectors, where the kernel grows with them
    RecentItems<T> recent;  // accepted pairs that are not in the moments yet, oldest first

    [[nodiscard]] double squared_length(std::size_t recent_index) const;
    // Shortens this recent item if it is far longer than usual. Returns whether it was.
    bool clip(const Kernel& kernel, std::size_t recent_index);
    std::size_t clip_all(const Kernel& kernel);
    // The same for the newest item, which then counts for what is usual. Returns how many were
    // shortened.
    std::size_t clip_newest(const Kernel& kernel);
    void save(Writer& writer) const;
    [[nodiscard]] static Side load(Reader& reader);
  };
  // Memory that is reused from block to block; no part of the state, and not copied with it.
  struct Scratch {
    Workspace workspace;
    FeatureBlock<T> x;
    FeatureBlock<T> y;

    Scratch() = default;
    ~Scratch() = default;
    Scratch(const Scratch&) noexcept {}
    Scratch& operator=(const Scratch&) noexcept { return *this; }
    Scratch(Scratch&&) noexcept = default;
    Scratch& operator=(Scratch&&) noexcept = default;
  };
  struct Bucket {
    std::int64_t id = 0;
    Moments moments;
    Reservoir<T> reservoir;
  };

  [[nodiscard]] Fault accept(const Items<T>& x, const Items<T>& y, std::size_t i, double weight,
                             double time);
  [[nodiscard]] bool is_ready() const { return x_.map != nullptr && y_.map != nullptr; }
  [[nodiscard]] std::size_t bucket_capacity() const;
  void choose_first_pivots();
  void flush_ready();
  void flush(std::size_t count);
  Bucket& bucket_for(std::int64_t id);
  [[nodiscard]] static Eigen::VectorXd origin_for(const FeatureMap<T>& map,
                                                  const Items<T>& features);
  void add_recent(Moments& moments, std::size_t first, std::size_t count, Scratch& scratch) const;
  void redraw(std::uint64_t seed);
  void merge_buckets(const Learner& theirs);
  void require_consistent(const Reader& reader) const;

  StreamConfig config_;
  WindowClock clock_;           // of own pairs
  std::uint64_t accepted_ = 0;  // own pairs and merged ones
  std::uint64_t refused_ = 0;
  std::uint64_t clipped_ = 0;  // vectors
  std::uint64_t epoch_ = 0;
  Side x_;
  Side y_;
  std::vector<double> weights_;  // of the recent pairs
  std::vector<Bucket> buckets_;  // ascending ids; one alone unless the stream has a window
  Scratch scratch_;
};

}  // namespace phsic
