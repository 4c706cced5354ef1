// A weighted sample of the learned pairs that forgets at the stream's own rate.
//
// Exponential keys (Efraimidis and Spirakis; Cohen and Kaplan's priority estimators): pair i gets
// the key log E_i - log w_i, E_i exponential, and the `capacity` smallest keys stay. A weight may
// be given as any logarithm, so that weights that double every half-life never overflow. Sums over
// the stream are estimated by weighing a kept pair w / pi, where pi = 1 - exp(-w tau) and tau = exp
// of the smallest key that did not stay. While nothing was displaced every pi is 1 and the
// estimates are exact. Not synchronised: one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "core/archive.h"
#include "core/items.h"

namespace phsic {

template <class T>
class Reservoir {
 public:
  Reservoir(std::size_t capacity, ItemShape x, ItemShape y);

  [[nodiscard]] std::size_t capacity() const { return capacity_; }
  [[nodiscard]] std::size_t size() const { return slots_.size(); }
  [[nodiscard]] const ItemShape& shape_x() const { return x_.shape(); }
  [[nodiscard]] const ItemShape& shape_y() const { return y_.shape(); }

  // Offers row i of the items, whose weight is exp(log_weight). `uniform` is a draw from (0, 1).
  // Returns its slot if it stays; a slot keeps its pair until the pair is displaced. A weight of
  // zero (log_weight = -infinity) never stays. REQUIRES: items without fault.
  std::optional<std::size_t> offer(const Items<T>& x, const Items<T>& y, std::size_t i,
                                   std::uint64_t sequence, double log_weight, double uniform);

  // The kept pairs in the order of their slots, with the weight w / pi of each at the time `now`,
  // that is with log_weight reduced by `log_now`.
  struct Sample {
    ItemBlock<T> x;
    ItemBlock<T> y;
    std::vector<double> weights;
    std::vector<std::uint64_t> sequences;
  };
  [[nodiscard]] Sample sample(double log_now) const;
  // The weights of the sample alone.
  [[nodiscard]] std::vector<double> sample_weights(double log_now) const;

  // The sequence numbers of the sample alone.
  [[nodiscard]] std::vector<std::uint64_t> sequences() const;

  // Draws the keys of the kept pairs anew, which changes no estimate. Given tau and which pairs
  // stayed, E is exponential below w tau: 1 - exp(-E) = u (1 - exp(-w tau)), u uniform. REQUIRES: a
  // seed with which nothing here was drawn yet.
  void redraw(std::uint64_t seed);

  // Joins a reservoir of other pairs whose keys are independent of ours: drawn with another seed,
  // or both drawn anew. `log_shift` is added to the logarithm of its weights. Throws unless the
  // shapes are the same.
  void merge(const Reservoir& other, double log_shift);

  static constexpr std::string_view kArchiveKind = sizeof(T) == 4 ? "RESf" : "RESd";
  void save(Writer& writer) const;
  [[nodiscard]] static Reservoir load(Reader& reader);

 private:
  struct Slot {
    double key;
    double log_weight;
    std::uint64_t sequence;
    std::size_t position;  // in x_ and y_
  };

  std::optional<std::size_t> admit(const Items<T>& x, const Items<T>& y, std::size_t i, Slot slot);
  [[nodiscard]] bool is_hopeless(double log_weight, double uniform);
  [[nodiscard]] bool before(std::size_t a, std::size_t b) const;
  void restore_heap();
  void compact();

  std::size_t capacity_;
  ItemBlock<T> x_;  // in order of arrival; pairs displaced since the last compaction included
  ItemBlock<T> y_;
  std::vector<Slot> slots_;
  std::vector<std::size_t> heap_;                               // slots, the largest key first
  double threshold_ = std::numeric_limits<double>::infinity();  // log tau
  // Draws up to `hopeless_` cannot matter to a pair of this weight under this threshold. Derived,
  // and computed anew when either changes.
  double hopeless_ = 0;
  double hopeless_weight_ = std::numeric_limits<double>::quiet_NaN();
  double hopeless_threshold_ = std::numeric_limits<double>::quiet_NaN();
};

}  // namespace phsic
