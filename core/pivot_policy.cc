#include "core/pivot_policy.h"

#include <cmath>
#include <utility>

#include "core/random.h"

namespace phsic {
namespace {

// The running residual remembers with a half-life of this many blocks (2048 pairs).
constexpr double kMemory = 8;
// New pivots must promise something: the residual has to have grown by this factor since the
// present ones were chosen.
constexpr double kGrowth = 1.5;
// A bandwidth that differs by less than this factor is kept, so that the moments can be carried.
constexpr double kBandwidthChange = 2;

}  // namespace

template <class T>
void PivotChange<T>::save(Writer& writer) const {
  for (const auto& map : {x, y}) {
    writer.number<std::uint8_t>(map != nullptr);
    if (map != nullptr) map->save(writer);
  }
  writer.number(unexplained_x);
  writer.number(unexplained_y);
}

template <class T>
PivotChange<T> PivotChange<T>::load(Reader& reader) {
  PivotChange change;
  if (reader.flag("new x features")) change.x = FeatureMap<T>::load(reader);
  if (reader.flag("new y features")) change.y = FeatureMap<T>::load(reader);
  change.unexplained_x = reader.finite("unexplained x");
  change.unexplained_y = reader.finite("unexplained y");
  return change;
}

template <class T>
void PivotFit::remember(const FeatureBlock<T>& block, const double* weights) {
  if (block.residual.empty()) return;
  const double keep = std::exp2(-1 / kMemory);
  residual_sum_ *= keep;
  self_sum_ *= keep;
  for (std::size_t i = 0; i < block.residual.size(); ++i) {
    residual_sum_ += weights[i] * block.residual[i];
    self_sum_ += weights[i] * block.self[i];
  }
}

void PivotFit::restart(double unexplained) {
  when_chosen_ = unexplained;
  residual_sum_ = 0;
  self_sum_ = 0;
}

void PivotFit::save(Writer& writer) const {
  for (const double value : {residual_sum_, self_sum_, when_chosen_}) writer.number(value);
}

PivotFit PivotFit::load(Reader& reader) {
  PivotFit fit;
  fit.residual_sum_ = reader.finite("residual sum");
  fit.self_sum_ = reader.finite("kernel sum");
  fit.when_chosen_ = reader.finite("unexplained");
  return fit;
}

template <class T>
bool PivotPolicy<T>::wants_pivots(const PivotSide<T>& side,
                                  const std::vector<double>& weights) const {
  if (!side.config.uses_pivots() || side.items.size() == 0) return false;
  if (side.map == nullptr) return true;
  // What is left unexplained has grown, or what is explained has shrunk, which tells more where the
  // pivots never explained much.
  const double left = side.fit.unexplained();
  const double before = side.fit.when_chosen();
  const bool worse = left > kGrowth * before || 1 - left < (1 - before) / kGrowth;
  if (left > config_.residual_threshold && worse) return true;
  // A kernel that is far too wide leaves hardly any residual, so the bandwidth is compared, too.
  const Kernel& kernel = side.config.kernel;
  if (!kernel.needs_fitting()) return false;
  const Kernel fitted =
      kernel.fitted(side.items.template cast<double>().view(), weights, config_.seed);
  return side.map->kernel().bandwidth_ratio(fitted) >= kBandwidthChange;
}

template <class T>
std::shared_ptr<const FeatureMap<T>> PivotPolicy<T>::choose(const PivotSide<T>& side,
                                                            const std::vector<double>& weights,
                                                            std::uint64_t seed,
                                                            double& unexplained) const {
  const ItemBlock<double> precise = side.items.template cast<double>();
  Kernel kernel = side.config.kernel.fitted(precise.view(), weights, seed);
  if (side.map != nullptr && side.map->kernel().bandwidth_ratio(kernel) < kBandwidthChange) {
    kernel = side.map->kernel();
  }
  const PivotChoice choice = choose_pivots(kernel, precise, weights, side.config.pivot_count(),
                                           config_.pivot_rule, kPivotTolerance<T>, seed);
  unexplained = choice.unexplained;
  return std::make_shared<const FeatureMap<T>>(
      PivotSet<T>{std::move(kernel), side.items.select(choice.chosen), choice.factor});
}

template <class T>
std::optional<PivotChange<T>> PivotPolicy<T>::propose(const PivotSide<T>& x, const PivotSide<T>& y,
                                                      const std::vector<double>& weights,
                                                      std::uint64_t epoch) const {
  PivotChange<T> change;
  const auto seed = [&](std::uint64_t salt) {
    return Random(config_.seed, 2 * epoch + salt).bits();
  };
  if (wants_pivots(x, weights)) change.x = choose(x, weights, seed(0), change.unexplained_x);
  if (wants_pivots(y, weights)) change.y = choose(y, weights, seed(1), change.unexplained_y);
  if (change.x == nullptr && change.y == nullptr) return std::nullopt;
  return change;
}

template struct PivotChange<float>;
template struct PivotChange<double>;
template void PivotFit::remember(const FeatureBlock<float>&, const double*);
template void PivotFit::remember(const FeatureBlock<double>&, const double*);
template class PivotPolicy<float>;
template class PivotPolicy<double>;

}  // namespace phsic
