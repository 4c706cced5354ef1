#include "engine/pair_components.h"

#include <fmt/format.h>

#include <algorithm>

namespace phsic {
namespace {

// Pairs are read in chunks, so that scratch does not grow with the batch.
constexpr std::size_t kReadRows = 256;

// The coordinates of all rows of items, under the model's features.
const float* coordinates(const Items<float>& items, const FeatureMap<float>& map,
                         const Estimator<float>& estimator, bool is_x, std::vector<float>& storage,
                         JudgeScratch& scratch) {
  storage.resize(row_count(items) * estimator.rank());
  ItemBlock<float> replaced;
  map.map_rows(sound_items(items, replaced), scratch.features, scratch.workspace);
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

bool ComponentReader::reads_texts() const {
  const auto reads_halves = [](const JudgedView& view) { return view.halves; };
  return fluency_ != nullptr || std::any_of(views_.begin(), views_.end(), reads_halves);
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

void ComponentReader::read(const PairsToJudge& pairs, double* out, JudgeScratch& scratch) const {
  const std::size_t rows = row_count(pairs.views.front().items.x);
  for (std::size_t first = 0; first < rows; first += kReadRows) {
    const std::size_t count = std::min(kReadRows, rows - first);
    double* const begin = out + first * size_;
    std::size_t column = 0;
    for (std::size_t v = 0; v < views_.size(); ++v) {
      read_view(v, pairs, first, count, begin + column, scratch);
      column += count_of(views_[v]);
    }
    if (fluency_ == nullptr) continue;
    for (std::size_t i = 0; i < count; ++i) {
      read_surface(pairs, first + i, begin + i * size_ + column, scratch);
    }
  }
}

void ComponentReader::read_view(std::size_t v, const PairsToJudge& pairs, std::size_t first,
                                std::size_t count, double* out, JudgeScratch& scratch) const {
  const auto& view = views_[v];
  const auto& model = *view.model;
  const auto& estimator = *model.estimator();
  const std::size_t rank = estimator.rank();
  const auto& seen = pairs.views[v];
  const ViewItems items{slice(seen.items.x, first, count), slice(seen.items.y, first, count)};
  const auto wholes = [&](bool is_x) -> const float* {
    if (const auto* known = seen.coordinates; known != nullptr) {
      return (is_x ? known->u : known->v).data() + first * rank;
    }
    return coordinates(is_x ? items.x : items.y, is_x ? *model.map_x() : *model.map_y(), estimator,
                       is_x, is_x ? scratch.wholes.u : scratch.wholes.v, scratch);
  };
  const float* const u = wholes(true);
  const float* const v_whole = wholes(false);
  const auto halves = [&](bool is_x) -> const float* {
    if (!view.halves) return nullptr;
    const auto texts = (is_x ? pairs.x : pairs.y).subspan(first, count);
    auto& storage = is_x ? scratch.halves.u : scratch.halves.v;
    HalfCoordinates(is_x ? view.x : view.y, is_x ? *model.map_x() : *model.map_y(), estimator, is_x)
        .find(texts, is_x ? items.x : items.y, is_x ? u : v_whole, storage, scratch.cut);
    return storage.data();
  };
  const float* const u_halves = halves(true);
  const float* const v_halves = halves(false);
  for (std::size_t i = 0; i < count; ++i) {
    agreements_[v].components(side(u, u_halves, i, rank), side(v_whole, v_halves, i, rank),
                              view.halves, out + i * size_, scratch.centred,
                              seen.own_shares == nullptr ? 0 : seen.own_shares[first + i]);
  }
}

void ComponentReader::read_surface(const PairsToJudge& pairs, std::size_t row, double* out,
                                   JudgeScratch& scratch) const {
  auto& surface = scratch.surface;
  surface.x.read(pairs.x[row], judge_tokenizer());
  surface.y.read(pairs.y[row], judge_tokenizer());
  const double own_times = pairs.was_learned.empty() ? 0 : pairs.was_learned[row];
  const auto of_x = fluency_->x.read(surface.x.words(), surface.fluency, own_times);
  const auto of_y = fluency_->y.read(surface.y.words(), surface.fluency, own_times);
  surface_components(surface.x, surface.y, of_x, of_y, norm_, out);
}

}  // namespace phsic
