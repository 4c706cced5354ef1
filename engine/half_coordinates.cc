#include "engine/half_coordinates.h"

#include <algorithm>
#include <cmath>

#include "core/loops.h"
#include "text/halves.h"

namespace phsic {
namespace {

// A second half that is shorter than this part of the whole is rounding, and counts as nothing.
constexpr double kShortestRest = 1e-6;

// Squared lengths of a whole and of its first half, and their product.
struct Lengths {
  double whole = 0;
  double first = 0;
  double product = 0;

  [[nodiscard]] double rest() const {
    const double squared = whole - 2 * product + first;
    return squared > kShortestRest * kShortestRest * whole ? squared : 0;
  }
};

Lengths dense_lengths(const DenseRows<float>& wholes, std::size_t i, const DenseRows<float>& parts,
                      std::size_t j) {
  double product = 0;
  for (std::size_t k = 0; k < wholes.dim; ++k) {
    product += static_cast<double>(wholes.row(i)[k]) * static_cast<double>(parts.row(j)[k]);
  }
  return {loops::squared_norm(wholes.row(i), wholes.dim),
          loops::squared_norm(parts.row(j), parts.dim), product};
}

// `places` are as many zeros as there are dimensions, and are so again afterwards.
Lengths sparse_lengths(const SparseRows<float>& wholes, std::size_t i,
                       const SparseRows<float>& parts, std::size_t j, std::vector<float>& places) {
  Lengths lengths;
  for (auto e = wholes.start[i]; e < wholes.start[i + 1]; ++e) {
    const double value = wholes.value[e];
    lengths.whole += value * value;
    places[wholes.index[e]] = wholes.value[e];
  }
  for (auto e = parts.start[j]; e < parts.start[j + 1]; ++e) {
    const double value = parts.value[e];
    lengths.first += value * value;
    lengths.product += value * static_cast<double>(places[parts.index[e]]);
  }
  for (auto e = wholes.start[i]; e < wholes.start[i + 1]; ++e) places[wholes.index[e]] = 0;
  return lengths;
}

// REQUIRES: items of the same kind.
Lengths lengths_of(const Items<float>& wholes, std::size_t i, const Items<float>& parts,
                   std::size_t j, std::vector<float>& places) {
  if (const auto* dense = std::get_if<DenseRows<float>>(&wholes)) {
    return dense_lengths(*dense, i, std::get<DenseRows<float>>(parts), j);
  }
  const auto& sparse = std::get<SparseRows<float>>(wholes);
  places.resize(sparse.dim);
  return sparse_lengths(sparse, i, std::get<SparseRows<float>>(parts), j, places);
}

}  // namespace

Items<float> sound_items(const Items<float>& items, ItemBlock<float>& storage) {
  const auto rows = row_count(items);
  std::size_t first_bad = 0;
  while (first_bad < rows && inspect(items, first_bad) == Fault::kNone) ++first_bad;
  if (first_bad == rows) return items;
  storage = ItemBlock<float>(shape_of(items));
  for (std::size_t i = 0; i < rows; ++i) {
    if (storage.append(items, i) != Fault::kNone) storage.append_nothing();
  }
  return storage.view();
}

HalfCoordinates::HalfCoordinates(const Encoder& encoder, const FeatureMap<float>& map,
                                 const Estimator<float>& estimator, bool is_x)
    : encoder_(encoder),
      map_(map),
      estimator_(estimator),
      is_x_(is_x),
      adds_up_(encoder.is_additive() && map.pivots() == nullptr),
      is_unit_(map.kernel().kind() == Kernel::Kind::kCosine) {}

void HalfCoordinates::cut(std::span<const std::string_view> texts, HalvesScratch& scratch) const {
  scratch.parts.clear();
  scratch.is_first_alone.clear();
  for (const auto text : texts) {
    const auto [first, second] = text::halves_of(text);
    const bool is_at_space = second.data() > first.data() + first.size();
    const bool is_first_alone = adds_up_ && is_at_space;
    scratch.is_first_alone.push_back(is_first_alone ? 1 : 0);
    scratch.parts.push_back(first);
    if (!is_first_alone) scratch.parts.push_back(second);
  }
}

const float* HalfCoordinates::project(HalvesScratch& scratch) const {
  ItemBlock<float> replaced;
  map_.map_rows(sound_items(scratch.encoded.view(), replaced), scratch.features, scratch.workspace);
  scratch.projected.resize(scratch.parts.size() * estimator_.rank());
  const auto& features = scratch.features.features;
  // Where the projection is the identity, the coordinates are the features.
  return is_x_ ? estimator_.project_rows_x(features, scratch.projected.data(), scratch.workspace)
               : estimator_.project_rows_y(features, scratch.projected.data(), scratch.workspace);
}

void HalfCoordinates::find(std::span<const std::string_view> texts, const Items<float>& wholes,
                           const float* coordinates, std::vector<float>& out,
                           HalvesScratch& scratch) const {
  const std::size_t rank = estimator_.rank();
  out.resize(2 * texts.size() * rank);
  cut(texts, scratch);
  encoder_.encode(scratch.parts, scratch.encoded);
  const float* part = project(scratch);
  const auto items = scratch.encoded.view();
  std::size_t next = 0;  // part
  for (std::size_t i = 0; i < texts.size(); ++i) {
    float* const first = out.data() + 2 * i * rank;
    float* const second = first + rank;
    std::copy_n(part + next * rank, rank, first);
    if (scratch.is_first_alone[i] == 0) {
      std::copy_n(part + (next + 1) * rank, rank, second);
      next += 2;
      continue;
    }
    double of_whole = 1;
    double of_first = 1;
    if (is_unit_) {
      const auto lengths = lengths_of(wholes, i, items, next, scratch.places);
      const double scale = loops::inverse_length(lengths.rest());
      of_whole = std::sqrt(lengths.whole) * scale;
      of_first = std::sqrt(lengths.first) * scale;
    }
    loops::scale(coordinates + i * rank, rank, static_cast<float>(of_whole), second);
    loops::add_multiple(first, rank, static_cast<float>(-of_first), second);
    ++next;
  }
}

}  // namespace phsic
