#include "daemon/serving/drift_watch.h"

namespace phsic {

DriftWatch::DriftWatch(const ServingState& serving, LaneCounters& counters, Reporter& reporter)
    : counters_(counters),
      reporter_(reporter),
      alarm_(serving.drift),
      model_(serving.drift_model) {}

void DriftWatch::add(std::span<const double> scores, const PublishedModel& published) {
  const std::lock_guard lock(mutex_);
  if (published.number != model_) {
    // A model of all pairs was calibrated before it was built.
    alarm_.restart(published.is_whole ? Calibration() : published.calibration());
    model_ = published.number;
  }
  const auto look = alarm_.add(scores);
  if (!look) return;
  counters_.drift_p_value = look->p_value;
  if (!look->is_alarm) return;
  ++counters_.drifts;
  reporter_.tell(DriftEvent{look->p_value, look->pairs, published.number, published.epoch()});
}

void DriftWatch::save(ServingState& serving) {
  const std::lock_guard lock(mutex_);
  serving.drift = alarm_;
  serving.drift_model = model_;
}

}  // namespace phsic
