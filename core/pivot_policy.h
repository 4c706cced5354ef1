// Whether the pivots of a stream have to be chosen, or chosen anew, and which they become.
//
// New pivots are wanted where there are none yet, where the present ones describe what arrives much
// worse than when they were chosen, and where the kernel's bandwidth no longer suits the data.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "core/archive.h"
#include "core/features.h"
#include "core/items.h"
#include "core/pivots.h"
#include "core/stream_config.h"

namespace phsic {

// New features for one side or both, chosen at one moment and adopted at the same or a later one.
template <class T>
struct PivotChange {
  std::shared_ptr<const FeatureMap<T>> x;  // null: as it is
  std::shared_ptr<const FeatureMap<T>> y;
  // The share that the new pivots left unexplained of what they were chosen from.
  double unexplained_x = 0;
  double unexplained_y = 0;

  static constexpr std::string_view kArchiveKind = sizeof(T) == 4 ? "PIVf" : "PIVd";
  void save(Writer& writer) const;
  [[nodiscard]] static PivotChange load(Reader& reader);
};

// How well the pivots of one side describe what arrives. A value; not synchronised.
class PivotFit {
 public:
  // The running mean residual as a share of the mean k(x,x) over the last few thousand pairs. 0
  // before the first block, and without pivots.
  [[nodiscard]] double unexplained() const { return self_sum_ > 0 ? residual_sum_ / self_sum_ : 0; }
  // What the present pivots left unexplained when they were chosen.
  [[nodiscard]] double when_chosen() const { return when_chosen_; }

  // Counts a block of pairs, one weight each. Without pivots there is nothing to count.
  template <class T>
  void remember(const FeatureBlock<T>& block, const double* weights);
  // Begins anew for new pivots, which left that share unexplained.
  void restart(double unexplained);

  void save(Writer& writer) const;
  [[nodiscard]] static PivotFit load(Reader& reader);

 private:
  double residual_sum_ = 0;  // running sums over blocks, forgetting with a half-life
  double self_sum_ = 0;
  double when_chosen_ = 0;
};

// What the choice of pivots needs to know of one side of a stream.
template <class T>
struct PivotSide {
  const SideConfig& config;
  const FeatureMap<T>* map;  // null: no pivots yet
  const PivotFit& fit;
  const ItemBlock<T>& items;  // a sample of the stream, which new pivots are chosen from
};

// Reads a stream's configuration, which must outlive it. Any thread.
template <class T>
class PivotPolicy {
 public:
  explicit PivotPolicy(const StreamConfig& config) : config_(config) {}

  // Does either side have pivots at all?
  [[nodiscard]] bool uses_pivots() const {
    return config_.x.uses_pivots() || config_.y.uses_pivots();
  }
  // Whether this side's pivots must be chosen, or chosen anew. False without items to choose from.
  // REQUIRES: a weight for each item.
  [[nodiscard]] bool wants_pivots(const PivotSide<T>& side,
                                  const std::vector<double>& weights) const;
  // New pivots for each side that wants some; empty when none does. A function of its arguments.
  // `epoch` is how often the pivots have changed. REQUIRES: a weight for each pair of items.
  [[nodiscard]] std::optional<PivotChange<T>> propose(const PivotSide<T>& x, const PivotSide<T>& y,
                                                      const std::vector<double>& weights,
                                                      std::uint64_t epoch) const;

 private:
  [[nodiscard]] std::shared_ptr<const FeatureMap<T>> choose(const PivotSide<T>& side,
                                                            const std::vector<double>& weights,
                                                            std::uint64_t seed,
                                                            double& unexplained) const;

  const StreamConfig& config_;
};

}  // namespace phsic
