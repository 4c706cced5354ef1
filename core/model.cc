#include "core/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace phsic {
namespace {

// Rows are looked at and scored in chunks, so that scratch does not grow with the batch.
constexpr std::size_t kScoredRows = 256;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

}  // namespace

template <class T>
Model<T>::Model(ItemShape x, ItemShape y, std::shared_ptr<const FeatureMap<T>> map_x,
                std::shared_ptr<const FeatureMap<T>> map_y, std::optional<Estimator<T>> estimator,
                Calibration calibration, ModelFacts facts)
    : x_(x),
      y_(y),
      map_x_(std::move(map_x)),
      map_y_(std::move(map_y)),
      estimator_(std::move(estimator)),
      calibration_(std::move(calibration)),
      facts_(facts) {
  const bool complete = map_x_ != nullptr && map_y_ != nullptr;
  const bool fits = complete && estimator_ && map_x_->item_shape() == x_ &&
                    map_y_->item_shape() == y_ && map_x_->dim() == estimator_->dim_x() &&
                    map_y_->dim() == estimator_->dim_y();
  if (estimator_ && !fits) {
    throw Error("model: found features and estimator of different shapes, expected the same");
  }
}

template <class T>
std::uint64_t Model<T>::multiply_adds() const {
  if (!estimator_) return 0;
  const std::uint64_t rank = estimator_->rank();
  const auto side = [&](const FeatureMap<T>& map, bool is_projected) {
    const std::uint64_t dim = map.dim();
    const std::uint64_t features =
        map.pivots() == nullptr ? dim : dim * (dim + map.item_shape().dim);
    return features + (is_projected ? dim * rank : dim);
  };
  return side(*map_x_, true) + side(*map_y_, !estimator_->is_exact());
}

// Scores rows first .. first + count of y with the same rows of x, or with the one row whose
// features are in scratch.x already.
template <class T>
void Model<T>::score_sound(const Items<T>& x, const Items<T>& y, bool one_x, std::size_t first,
                           std::size_t count, double* scores, ScoreScratch<T>& scratch,
                           const double* own_shares, PairCoordinates<T>* kept) const {
  if (!estimator_) {
    std::fill_n(scores + first, count, 0.0);
    return;
  }
  map_y_->map_rows(slice(y, first, count), scratch.y, scratch.workspace);
  if (one_x) {
    estimator_->score_one_to_many(scratch.x.features, scratch.y.features, scores + first,
                                  scratch.workspace);
    return;
  }
  map_x_->map_rows(slice(x, first, count), scratch.x, scratch.workspace);
  estimator_->score(scratch.x.features, scratch.y.features, scores + first, scratch.workspace,
                    own_shares == nullptr ? nullptr : own_shares + first, kept, first);
}

// Looks at the rows of a chunk; returns how many have no fault.
template <class T>
std::size_t Model<T>::inspect_rows(const Items<T>& x, const Items<T>& y, Fault fault_of_x,
                                   bool one_x, std::size_t first, std::size_t count,
                                   Fault* found) const {
  std::size_t sound = 0;
  for (std::size_t i = 0; i < count; ++i) {
    found[i] = fault_of_x;
    if (found[i] == Fault::kNone && !one_x) found[i] = inspect(x, first + i);
    if (found[i] == Fault::kNone) found[i] = inspect(y, first + i);
    sound += found[i] == Fault::kNone ? 1 : 0;
  }
  return sound;
}

template <class T>
std::size_t Model<T>::score_rows(const Items<T>& x, const Items<T>& y, bool one_x, double* scores,
                                 Fault* faults, ScoreScratch<T>& scratch, const double* own_shares,
                                 PairCoordinates<T>* kept) const {
  const std::size_t rows = row_count(y);
  if (kept != nullptr) kept->resize(rows, estimator_ ? estimator_->rank() : 0);
  const bool shapes_fit =
      shape_of(x) == x_ && shape_of(y) == y_ && row_count(x) == (one_x ? 1 : rows);
  Fault fault_of_x = shapes_fit ? Fault::kNone : Fault::kWrongShape;
  if (shapes_fit && one_x) fault_of_x = inspect(x, 0);
  if (one_x && estimator_ && fault_of_x == Fault::kNone) {
    map_x_->map_rows(x, scratch.x, scratch.workspace);
  }
  // A bad row of numbers spoils its own score only; bad indices and texts must not be touched.
  const bool harmless = x_.kind == ItemKind::kDense && y_.kind == ItemKind::kDense;
  std::array<Fault, kScoredRows> found{};
  std::size_t scored = 0;
  for (std::size_t first = 0; first < rows; first += kScoredRows) {
    const std::size_t count = std::min(kScoredRows, rows - first);
    const std::size_t sound = inspect_rows(x, y, fault_of_x, one_x, first, count, found.data());
    if (sound == count || (sound > 0 && harmless)) {
      score_sound(x, y, one_x, first, count, scores, scratch, own_shares, kept);
    } else {
      for (std::size_t i = 0; i < count; ++i) {
        if (found[i] != Fault::kNone) continue;
        score_sound(x, y, one_x, first + i, 1, scores, scratch, own_shares, kept);
      }
    }
    for (std::size_t i = 0; i < count; ++i) {
      // A kernel of sound items may still overflow.
      if (found[i] == Fault::kNone && !std::isfinite(scores[first + i])) {
        found[i] = Fault::kTooLarge;
      }
      scored += found[i] == Fault::kNone ? 1 : 0;
      if (found[i] != Fault::kNone) {
        scores[first + i] = kNan;
        if (kept != nullptr) kept->clear(first + i);
      }
      if (faults != nullptr) faults[first + i] = found[i];
    }
  }
  return scored;
}

template <class T>
std::size_t Model<T>::score(const Items<T>& x, const Items<T>& y, double* scores, Fault* faults,
                            ScoreScratch<T>& scratch, const double* own_shares,
                            PairCoordinates<T>* kept) const {
  return score_rows(x, y, false, scores, faults, scratch, own_shares, kept);
}

template <class T>
std::size_t Model<T>::score_one_to_many(const Items<T>& x, const Items<T>& y, double* scores,
                                        Fault* faults, ScoreScratch<T>& scratch) const {
  return score_rows(x, y, true, scores, faults, scratch, nullptr, nullptr);
}

void ModelFacts::save(Writer& writer) const {
  writer.number(pairs);
  writer.number(effective_pairs);
  writer.number(epoch);
  writer.number(ridge);
  dependence.save(writer);
  writer.number<std::uint8_t>(accuracy.has_value());
  if (accuracy) accuracy->save(writer);
}

ModelFacts ModelFacts::load(Reader& reader) {
  ModelFacts facts;
  facts.pairs = reader.number<std::uint64_t>("pairs");
  facts.effective_pairs = reader.finite("effective pairs");
  facts.epoch = reader.number<std::uint64_t>("epoch");
  facts.ridge = reader.finite("ridge");
  facts.dependence = Dependence::load(reader);
  if (reader.flag("accuracy")) facts.accuracy = Accuracy::load(reader);
  return facts;
}

template <class T>
void Model<T>::save(Writer& writer) const {
  x_.save(writer);
  y_.save(writer);
  writer.number<std::uint8_t>(estimator_.has_value());
  if (estimator_) {
    map_x_->save(writer);
    map_y_->save(writer);
    estimator_->save(writer);
  }
  calibration_.save(writer);
  facts_.save(writer);
}

template <class T>
Model<T> Model<T>::load(Reader& reader) {
  const ItemShape x = ItemShape::load(reader);
  const ItemShape y = ItemShape::load(reader);
  std::shared_ptr<const FeatureMap<T>> map_x;
  std::shared_ptr<const FeatureMap<T>> map_y;
  std::optional<Estimator<T>> estimator;
  if (reader.flag("estimator")) {
    map_x = FeatureMap<T>::load(reader);
    map_y = FeatureMap<T>::load(reader);
    estimator = Estimator<T>::load(reader);
  }
  Calibration calibration = Calibration::load(reader);
  auto facts = ModelFacts::load(reader);
  return {x,    y, std::move(map_x), std::move(map_y), std::move(estimator), std::move(calibration),
          facts};
}

template class Model<float>;
template class Model<double>;

}  // namespace phsic
