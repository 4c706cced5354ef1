// A published model: features, estimator and calibration of one moment, ready to score.
//
// Immutable. Publish it as a std::shared_ptr<const Model>; any number of threads may score with it,
// each with a scratch of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "core/archive.h"
#include "core/calibration.h"
#include "core/dependence.h"
#include "core/estimator.h"
#include "core/feature_block.h"
#include "core/features.h"
#include "core/items.h"
#include "core/measure.h"

namespace phsic {

// What is known about a model besides how it scores.
struct ModelFacts {
  std::uint64_t pairs = 0;     // learned when it was built
  double effective_pairs = 0;  // n_eff of the moments
  std::uint64_t epoch = 0;     // of the pivots
  double ridge = 0;            // used; 0 for phsic
  Dependence dependence;
  std::optional<Accuracy> accuracy;  // on held-back pairs

  void save(Writer& writer) const;
  [[nodiscard]] static ModelFacts load(Reader& reader);
};

template <class T>
class Model {
 public:
  // Null maps and estimator: nothing was learned yet, and every pair scores 0.
  Model(ItemShape x, ItemShape y, std::shared_ptr<const FeatureMap<T>> map_x,
        std::shared_ptr<const FeatureMap<T>> map_y, std::optional<Estimator<T>> estimator,
        Calibration calibration, ModelFacts facts);

  // scores[i] of x[i] with y[i]. The bits of a score depend on its pair alone: they are the same in
  // any batch and at any place in it, on the same type of processor. A bad pair gets NaN and its
  // fault in faults[i] (may be null); the others are scored as if it were not there. Returns how
  // many were scored. If there are not as many rows of x as of y, none is: every fault is
  // kWrongShape. own_shares[i], not negative, is the share of pair i in what the model has learned,
  // which is taken out of its score (own_share.h); 0, or null for all, takes out nothing. `kept`,
  // if there is one, gets the coordinates of all pairs, zeros for a bad pair.
  std::size_t score(const Items<T>& x, const Items<T>& y, double* scores, Fault* faults,
                    ScoreScratch<T>& scratch, const double* own_shares = nullptr,
                    PairCoordinates<T>* kept = nullptr) const;

  // scores[j] of the one row of x with y[j], bit for bit as score() gives it. Otherwise like
  // score().
  std::size_t score_one_to_many(const Items<T>& x, const Items<T>& y, double* scores, Fault* faults,
                                ScoreScratch<T>& scratch) const;

  // About how many multiplications and additions it takes to score a pair of vectors.
  [[nodiscard]] std::uint64_t multiply_adds() const;

  [[nodiscard]] const ItemShape& shape_x() const { return x_; }
  [[nodiscard]] const ItemShape& shape_y() const { return y_; }
  // Null when nothing was learned yet.
  [[nodiscard]] const Estimator<T>* estimator() const {
    return estimator_ ? &*estimator_ : nullptr;
  }
  [[nodiscard]] const FeatureMap<T>* map_x() const { return map_x_.get(); }
  [[nodiscard]] const FeatureMap<T>* map_y() const { return map_y_.get(); }
  [[nodiscard]] const Calibration& calibration() const { return calibration_; }
  [[nodiscard]] const ModelFacts& facts() const { return facts_; }

  static constexpr std::string_view kArchiveKind = sizeof(T) == 4 ? "MODf" : "MODd";
  void save(Writer& writer) const;
  [[nodiscard]] static Model load(Reader& reader);

 private:
  std::size_t score_rows(const Items<T>& x, const Items<T>& y, bool one_x, double* scores,
                         Fault* faults, ScoreScratch<T>& scratch, const double* own_shares,
                         PairCoordinates<T>* kept) const;
  std::size_t inspect_rows(const Items<T>& x, const Items<T>& y, Fault fault_of_x, bool one_x,
                           std::size_t first, std::size_t count, Fault* found) const;
  void score_sound(const Items<T>& x, const Items<T>& y, bool one_x, std::size_t first,
                   std::size_t count, double* scores, ScoreScratch<T>& scratch,
                   const double* own_shares, PairCoordinates<T>* kept) const;

  ItemShape x_;
  ItemShape y_;
  std::shared_ptr<const FeatureMap<T>> map_x_;
  std::shared_ptr<const FeatureMap<T>> map_y_;
  std::optional<Estimator<T>> estimator_;
  Calibration calibration_;
  ModelFacts facts_;
};

}  // namespace phsic
