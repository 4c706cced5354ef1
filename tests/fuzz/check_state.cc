#include "tests/fuzz/check_state.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "core/explain.h"
#include "core/random.h"
#include "core/refresh.h"

namespace phsic::fuzz {
namespace {

constexpr std::size_t kMostDimensions = 64;
// Enough that a block goes from the recent pairs into the moments.
constexpr std::size_t kPairs = 320;

template <class T>
ItemBlock<T> make_items(const ItemShape& shape, std::size_t count, std::uint64_t seed) {
  ItemBlock<T> block(shape);
  Random random(seed);
  std::vector<T> values(shape.dim);
  std::vector<std::uint32_t> indices(shape.dim);
  for (std::size_t i = 0; i < count; ++i) {
    for (std::uint32_t j = 0; j < shape.dim; ++j) {
      values[j] = static_cast<T>(random.normal());
      indices[j] = j;
    }
    Items<T> item = DenseRows<T>{values.data(), 1, shape.dim};
    std::string text;
    std::size_t start[] = {0, shape.dim};
    if (shape.kind == ItemKind::kSparse) {
      start[1] = 1 + random.below(shape.dim);
      item = SparseRows<T>{start, indices.data(), values.data(), 1, shape.dim};
    } else if (shape.kind == ItemKind::kText) {
      text = "text " + std::to_string(random.below(50));
      start[1] = text.size();
      item = TextRows{start, text.data(), 1};
    }
    require(block.append(item, 0) == Fault::kNone, "sound items are taken");
  }
  return block;
}

bool is_small(const SideConfig& side) {
  return side.items.dim <= kMostDimensions &&
         (!side.uses_pivots() || side.pivot_count() <= kMostDimensions);
}

template <class T>
void score_some(const Model<T>& model, const ItemShape& shape_x, const ItemShape& shape_y) {
  const ItemBlock<T> x = make_items<T>(shape_x, 5, 11);
  const ItemBlock<T> y = make_items<T>(shape_y, 5, 12);
  std::vector<double> scores(x.size());
  std::vector<Fault> faults(x.size());
  ScoreScratch<T> scratch;
  const std::size_t scored = model.score(x.view(), y.view(), scores.data(), faults.data(), scratch);
  require(scored <= x.size(), "no more pairs are scored than given");
  const Items<T> one = slice(x.view(), 0, 1);
  static_cast<void>(model.score_one_to_many(one, y.view(), scores.data(), faults.data(), scratch));
  for (const double score : scores) {
    const auto percentile = model.calibration().percentile(score);
    require(!percentile || (*percentile >= 0 && *percentile <= 1), "percentiles are shares");
  }
  static_cast<void>(model.calibration().threshold(0.1));
}

// Explains the pairs by each other.
template <class T>
void explain_some(const Model<T>& model, const ItemShape& shape_x, const ItemShape& shape_y) {
  const typename Reservoir<T>::Sample sample{
      make_items<T>(shape_x, 5, 13), make_items<T>(shape_y, 5, 14), {1, 2, 3, 4, 5}, {}};
  const Explainer<T> explainer(std::make_shared<const Model<T>>(model), sample);
  std::vector<double> contributions(explainer.size());
  ScoreScratch<T> scratch;
  const Items<T> x = slice(sample.x.view(), 0, 1);
  const Items<T> y = slice(sample.y.view(), 0, 1);
  const Explanation explanation = explainer.explain(x, y, contributions.data(), scratch);
  for (const double contribution : contributions) {
    require(explanation.fault != Fault::kNone || std::isfinite(contribution),
            "contributions are finite");
  }
  require(strongest(contributions, 2).raising.size() <= 2, "no more are found than asked for");
}

template <class T>
void refresh_and_score(const Learner<T>& learner) {
  using Extent = typename Learner<T>::Extent;
  EstimatorSpec spec;
  if (learner.config().parts == Moments::Parts::kAll) spec.kind = std::nullopt;
  const Refreshed<T> refreshed = refresh(learner, spec, Extent::kAll);
  score_some(*refreshed.model, learner.config().x.items, learner.config().y.items);
  explain_some(*refreshed.model, learner.config().x.items, learner.config().y.items);
}

template <class T>
void learn_some(Learner<T>& learner, std::size_t count, std::uint64_t seed) {
  const ItemBlock<T> x = make_items<T>(learner.config().x.items, count, seed);
  const ItemBlock<T> y = make_items<T>(learner.config().y.items, count, seed + 1);
  std::vector<double> times(count);
  for (std::size_t i = 0; i < count; ++i) times[i] = static_cast<double>(i);
  const std::uint64_t before = learner.accepted();
  const std::size_t learned = learner.learn(x.view(), y.view(), nullptr, times.data(), nullptr);
  require(learner.accepted() == before + learned, "accepted pairs are counted");
}

template <class T>
SideConfig side_for(const FeatureMap<T>* map) {
  SideConfig side;
  side.items = {ItemKind::kDense, 2};
  if (map == nullptr) return side;
  side.items = map->item_shape();
  side.kernel = map->kernel();
  side.pivots = static_cast<std::uint32_t>(std::max<std::size_t>(map->dim(), 1));
  return side;
}

}  // namespace

void require(bool kept, const char* promise) {
  if (kept) return;
  static_cast<void>(std::fprintf(stderr, "broken promise: %s\n", promise));
  std::abort();
}

template <class T>
void use(Learner<T> learner) {
  if (!is_small(learner.config().x) || !is_small(learner.config().y)) return;
  refresh_and_score(learner);
  Learner<T> other = learner;
  learn_some(learner, kPairs, 1);
  refresh_and_score(learner);
  other.merge(learner);
  refresh_and_score(other);
}

template <class T>
void use(const Model<T>& model) {
  const auto shape_for = [](const FeatureMap<T>* map) {
    return map == nullptr ? ItemShape{ItemKind::kDense, 1} : map->item_shape();
  };
  const ItemShape x = shape_for(model.map_x());
  const ItemShape y = shape_for(model.map_y());
  if (x.dim > kMostDimensions || y.dim > kMostDimensions) return;
  score_some(model, x, y);
  explain_some(model, x, y);
}

template <class T>
void use(const PivotChange<T>& change) {
  StreamConfig config;
  config.x = side_for(change.x.get());
  config.y = side_for(change.y.get());
  if (!is_small(config.x) || !is_small(config.y)) return;
  Learner<T> learner(config);
  learn_some(learner, kPairs, 1);
  learner.adopt(change);
  learn_some(learner, kPairs, 2);
  refresh_and_score(learner);
}

void use(CountPmi pmi) {
  CountPmi other = pmi;
  for (const char* x : {"a", "b", "c"}) {
    for (const char* y : {"d", "e"}) {
      require(pmi.learn(x, y) == Fault::kNone, "sound pairs are taken");
      require(!std::isnan(pmi.score(x, y)), "scores are never NaN");
    }
  }
  other.decay(0.5);
  other.merge(pmi);
  require(!std::isnan(other.score("a", "d")), "scores are never NaN");
  require(!std::isnan(other.score("a", "never seen")), "scores are never NaN");
}

void use(DriftAlarm alarm) {
  Random random(1);
  // Enough for several looks at the largest window.
  for (int i = 0; i < 10'000; ++i) {
    const auto look = alarm.add(random.normal());
    require(!look || (look->p_value >= 0 && look->p_value <= 1), "p-values are shares");
  }
  alarm.restart(Calibration({1, 2, 3}, {0}));
  require(alarm.looks() == 0 && !alarm.is_raised(), "a restart begins anew");
}

template void use(Learner<float>);
template void use(Learner<double>);
template void use(const Model<float>&);
template void use(const Model<double>&);
template void use(const PivotChange<float>&);
template void use(const PivotChange<double>&);

}  // namespace phsic::fuzz
