#include "core/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

namespace phsic {
namespace {

// Rows are looked at and scored in chunks, so that scratch does not grow with the batch.
constexpr std::size_t kChunk = 256;
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
void Model<T>::score_sound(const Items<T>& x, const Items<T>& y, double* scores,
                           ScoreScratch<T>& scratch) const {
  if (!estimator_) {
    std::fill_n(scores, row_count(y), 0.0);
    return;
  }
  map_x_->map(x, scratch.x, scratch.workspace);
  map_y_->map(y, scratch.y, scratch.workspace);
  if (row_count(x) == row_count(y)) {
    estimator_->score(scratch.x.features, scratch.y.features, scores, scratch.workspace);
  } else {
    estimator_->score_one_to_many(scratch.x.features, scratch.y.features, scores,
                                  scratch.workspace);
  }
}

template <class T>
std::size_t Model<T>::score_rows(const Items<T>& x, const Items<T>& y, bool one_x, double* scores,
                                 Fault* faults, ScoreScratch<T>& scratch) const {
  const std::size_t rows = row_count(y);
  const bool shapes_fit =
      shape_of(x) == x_ && shape_of(y) == y_ && row_count(x) == (one_x ? 1 : rows);
  std::array<Fault, kChunk> found{};
  std::size_t scored = 0;
  for (std::size_t first = 0; first < rows; first += kChunk) {
    const std::size_t count = std::min(kChunk, rows - first);
    std::size_t sound = 0;
    for (std::size_t i = 0; i < count; ++i) {
      Fault fault = shapes_fit ? inspect(x, one_x ? 0 : first + i) : Fault::kWrongShape;
      if (fault == Fault::kNone) fault = inspect(y, first + i);
      found[i] = fault;
      sound += fault == Fault::kNone ? 1 : 0;
      if (faults != nullptr) faults[first + i] = fault;
    }
    const auto x_rows = [&](std::size_t at, std::size_t n) { return one_x ? x : slice(x, at, n); };
    if (sound == count) {
      score_sound(x_rows(first, count), slice(y, first, count), scores + first, scratch);
    } else {
      // One at a time: no faulty row is ever touched.
      for (std::size_t i = 0; i < count; ++i) {
        scores[first + i] = kNan;
        if (found[i] == Fault::kNone) {
          score_sound(x_rows(first + i, 1), slice(y, first + i, 1), scores + first + i, scratch);
        }
      }
    }
    scored += sound;
  }
  return scored;
}

template <class T>
std::size_t Model<T>::score(const Items<T>& x, const Items<T>& y, double* scores, Fault* faults,
                            ScoreScratch<T>& scratch) const {
  return score_rows(x, y, false, scores, faults, scratch);
}

template <class T>
std::size_t Model<T>::score_one_to_many(const Items<T>& x, const Items<T>& y, double* scores,
                                        Fault* faults, ScoreScratch<T>& scratch) const {
  return score_rows(x, y, true, scores, faults, scratch);
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
  writer.number(facts_.pairs);
  writer.number(facts_.effective_pairs);
  writer.number(facts_.epoch);
  writer.number(facts_.ridge);
  facts_.dependence.save(writer);
  writer.number<std::uint8_t>(facts_.accuracy.has_value());
  if (facts_.accuracy) facts_.accuracy->save(writer);
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
  ModelFacts facts;
  facts.pairs = reader.number<std::uint64_t>("pairs");
  facts.effective_pairs = reader.finite("effective pairs");
  facts.epoch = reader.number<std::uint64_t>("epoch");
  facts.ridge = reader.finite("ridge");
  facts.dependence = Dependence::load(reader);
  if (reader.flag("accuracy")) facts.accuracy = Accuracy::load(reader);
  return {x,    y, std::move(map_x), std::move(map_y), std::move(estimator), std::move(calibration),
          facts};
}

template class Model<float>;
template class Model<double>;

}  // namespace phsic
