#include "engine/pair_components.h"

#include <fmt/format.h>

#include <algorithm>

#include "text/halves.h"

namespace phsic {
namespace {

// Pairs are read in chunks, so that scratch does not grow with the batch.
constexpr std::size_t kReadRows = 256;

// The items, with nothing in the place of those that have a fault: maps need sound ones. Valid as
// long as `storage` and the items are.
Items<float> sound(const Items<float>& items, ItemBlock<float>& storage) {
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

// The coordinates of all rows of items, under the model's features.
const float* coordinates(const Items<float>& items, const FeatureMap<float>& map,
                         const Estimator<float>& estimator, bool is_x, std::vector<float>& storage,
                         JudgeScratch& scratch) {
  storage.resize(row_count(items) * estimator.rank());
  ItemBlock<float> replaced;
  map.map_rows(sound(items, replaced), scratch.features, scratch.workspace);
  const auto& features = scratch.features.features;
  const float* const found =
      is_x ? estimator.project_rows_x(features, storage.data(), scratch.workspace)
           : estimator.project_rows_y(features, storage.data(), scratch.workspace);
  // Where the projection is the identity, they lie where the next call overwrites them.
  if (found != storage.data()) {
    std::copy_n(found, row_count(items) * estimator.rank(), storage.data());
  }
  return storage.data();
}

// First and second halves of texts, one after the other.
void cut_in_halves(std::span<const std::string_view> texts, std::vector<std::string_view>& parts) {
  parts.clear();
  for (const auto text : texts) {
    const auto [first, second] = text::halves_of(text);
    parts.push_back(first);
    parts.push_back(second);
  }
}

SideCoordinates side(const float* wholes, const float* halves, std::size_t row, std::size_t rank) {
  if (halves == nullptr) return {wholes + row * rank, nullptr, nullptr};
  return {wholes + row * rank, halves + 2 * row * rank, halves + (2 * row + 1) * rank};
}

}  // namespace

const text::Tokenizer& judge_tokenizer() {
  static const text::Tokenizer kTokenizer = make_surface_tokenizer();
  return kTokenizer;
}

ComponentReader::ComponentReader(std::vector<JudgedView> views,
                                 std::shared_ptr<const FluencyPair> fluency,
                                 const SurfaceNorm& norm)
    : views_(std::move(views)), fluency_(std::move(fluency)), norm_(norm) {
  for (const auto& view : views_) {
    agreements_.emplace_back(*view.model->estimator());
    size_ += count_of(view);
  }
  if (fluency_ != nullptr) size_ += kSurfaceComponents;
}

std::size_t ComponentReader::count_of(const JudgedView& view) const {
  return kWholeComponents + (view.halves ? kHalvesComponents : 0);
}

std::string ComponentReader::name_of(std::size_t i) const {
  for (const auto& view : views_) {
    const auto count = count_of(view);
    if (i < count) {
      const auto name = agreement_table()[i].name;
      return view.name.empty() ? std::string(name) : fmt::format("{}: {}", view.name, name);
    }
    i -= count;
  }
  return std::string(kSurfaceTable[i].name);
}

std::string_view ComponentReader::about(std::size_t i) const {
  for (const auto& view : views_) {
    const auto count = count_of(view);
    if (i < count) return agreement_table()[i].about;
    i -= count;
  }
  return kSurfaceTable[i].about;
}

void ComponentReader::read(std::span<const std::string_view> x, std::span<const std::string_view> y,
                           std::span<const ViewItems> wholes, double* out,
                           JudgeScratch& scratch) const {
  const std::size_t rows = row_count(wholes.front().x);
  for (std::size_t first = 0; first < rows; first += kReadRows) {
    const std::size_t count = std::min(kReadRows, rows - first);
    double* const begin = out + first * size_;
    const auto part_x = x.empty() ? x : x.subspan(first, count);
    const auto part_y = y.empty() ? y : y.subspan(first, count);
    std::size_t column = 0;
    for (std::size_t v = 0; v < views_.size(); ++v) {
      const ViewItems part{slice(wholes[v].x, first, count), slice(wholes[v].y, first, count)};
      read_view(v, part_x, part_y, part, begin + column, scratch);
      column += count_of(views_[v]);
    }
    if (fluency_ == nullptr) continue;
    for (std::size_t i = 0; i < count; ++i) {
      read_surface(part_x[i], part_y[i], begin + i * size_ + column, scratch);
    }
  }
}

void ComponentReader::read_view(std::size_t v, std::span<const std::string_view> x,
                                std::span<const std::string_view> y, const ViewItems& wholes,
                                double* out, JudgeScratch& scratch) const {
  const auto& view = views_[v];
  const auto& model = *view.model;
  const auto& estimator = *model.estimator();
  const std::size_t rank = estimator.rank();
  const auto find = [&](const Items<float>& items, bool is_x, std::size_t storage) {
    return coordinates(items, is_x ? *model.map_x() : *model.map_y(), estimator, is_x,
                       scratch.coordinates[storage], scratch);
  };
  const auto find_halves = [&](std::span<const std::string_view> texts, bool is_x) {
    cut_in_halves(texts, scratch.parts);
    auto& encoded = scratch.halves[is_x ? 0 : 1];
    (is_x ? view.x : view.y).encode(scratch.parts, encoded);
    return find(encoded.view(), is_x, is_x ? 2 : 3);
  };
  const float* const u = find(wholes.x, true, 0);
  const float* const v_whole = find(wholes.y, false, 1);
  const float* const u_halves = view.halves ? find_halves(x, true) : nullptr;
  const float* const v_halves = view.halves ? find_halves(y, false) : nullptr;
  for (std::size_t i = 0; i < row_count(wholes.x); ++i) {
    agreements_[v].components(side(u, u_halves, i, rank), side(v_whole, v_halves, i, rank),
                              view.halves, out + i * size_, scratch.centred);
  }
}

void ComponentReader::read_surface(std::string_view x, std::string_view y, double* out,
                                   JudgeScratch& scratch) const {
  auto& surface = scratch.surface;
  surface.x.read(x, judge_tokenizer());
  surface.y.read(y, judge_tokenizer());
  const auto of_x = fluency_->x.read(surface.x.words(), surface.fluency);
  const auto of_y = fluency_->y.read(surface.y.words(), surface.fluency);
  surface_components(surface.x, surface.y, of_x, of_y, norm_, out);
}

}  // namespace phsic
