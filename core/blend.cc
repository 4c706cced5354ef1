#include "core/blend.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

namespace phsic {
namespace {

constexpr double kUnseen = std::numeric_limits<double>::quiet_NaN();

// How many standard errors better a blend with a further view has to be, and other weights than
// those of the model before. Between neighbouring weights the standard error is small, so their
// merit must also gain something that is worth another scale of the scores.
constexpr double kClearView = 1;
constexpr double kClearWeights = 2;
constexpr double kWorthwhile = 0.005;

// The share that a further view is tried with.
constexpr double kShares[] = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9};

// How the scores of exchanged pairs are spread; none if they are all the same.
std::optional<Blend::Part> spread_of(const Trial& trial) {
  double count = 0;
  double sum = 0;
  double scale = 0;
  for (const double score : trial.null) {
    if (std::isnan(score)) continue;
    ++count;
    sum += score;
    scale = std::max(scale, std::abs(score));
  }
  if (count < 2) return std::nullopt;
  Blend::Part part;
  part.mean = sum / count;
  double squares = 0;
  for (const double score : trial.null) {
    if (!std::isnan(score)) squares += (score - part.mean) * (score - part.mean) / (count - 1);
  }
  part.deviation = std::sqrt(squares);
  // Rounding is no spread.
  const bool varies = std::isfinite(part.deviation) && part.deviation > 1e-9 * scale;
  return varies ? std::optional(part) : std::nullopt;
}

// Tries weights out on the trials.
class Weighing {
 public:
  explicit Weighing(std::span<const Trial> trials) : trials_(trials), spread_(trials.size()) {
    for (std::size_t v = 0; v < trials.size(); ++v) spread_[v] = spread_of(trials[v]);
  }

  struct Entry {
    std::vector<double> weights;
    std::vector<double> merits;  // one for each pair
    double merit = 0;            // their mean
  };

  [[nodiscard]] bool varies(std::size_t view) const { return spread_[view].has_value(); }

  [[nodiscard]] Blend blend(const std::vector<double>& weights) const {
    std::vector<Blend::Part> parts;
    double sum = 0;
    for (std::size_t v = 0; v < weights.size(); ++v) {
      parts.push_back(spread_[v].value_or(Blend::Part()));
      if (!varies(v)) continue;
      parts.back().weight = weights[v];
      sum += weights[v];
    }
    for (auto& part : parts) part.weight = sum > 0 ? part.weight / sum : 0;
    return Blend(std::move(parts));
  }

  [[nodiscard]] Entry try_out(std::vector<double> weights) const {
    const auto blended = blend(weights);
    auto trial = blended.trial(trials_);
    blended.fill_unseen(trial);
    Entry entry{std::move(weights), merits_of(trial), 0};
    for (const double merit : entry.merits) {
      entry.merit += merit / static_cast<double>(entry.merits.size());
    }
    return entry;
  }

 private:
  std::span<const Trial> trials_;
  std::vector<std::optional<Blend::Part>> spread_;
};

// The best of all entries in which one more view counts; none if no further view varies.
std::optional<Weighing::Entry> best_with_one_more(const Weighing& weighing,
                                                  const std::vector<double>& weights) {
  std::optional<Weighing::Entry> best;
  const auto consider = [&](std::vector<double> candidate) {
    auto entry = weighing.try_out(std::move(candidate));
    if (!best || entry.merit > best->merit) best = std::move(entry);
  };
  const bool is_first =
      std::all_of(weights.begin(), weights.end(), [](double weight) { return weight == 0; });
  for (std::size_t v = 0; v < weights.size(); ++v) {
    if (weights[v] > 0 || !weighing.varies(v)) continue;
    for (const double share : kShares) {
      auto candidate = weights;
      for (double& weight : candidate) weight *= 1 - share;
      candidate[v] = is_first ? 1 : share;
      consider(std::move(candidate));
      if (is_first) break;
    }
  }
  return best;
}

}  // namespace

Blend::Blend(std::vector<Part> parts) : parts_(std::move(parts)) {
  std::size_t counting = 0;
  for (std::size_t v = 0; v < parts_.size(); ++v) {
    const auto& [weight, mean, deviation] = parts_[v];
    if (weight == 0) continue;
    middle_ += weight * mean;
    unit_ += weight * deviation;
    alone_ = v;
    ++counting;
  }
  if (counting != 1) alone_.reset();
}

bool Blend::has_say() const {
  return std::any_of(parts_.begin(), parts_.end(),
                     [](const Part& part) { return part.weight > 0; });
}

double Blend::score(const double* scores) const {
  if (alone_) return scores[*alone_];  // to the last bit
  double sum = 0;
  double weights = 0;
  for (std::size_t v = 0; v < parts_.size(); ++v) {
    const double weight = parts_[v].weight;
    if (weight == 0 || std::isnan(scores[v])) continue;
    sum += weight * standardised(v, scores[v]);
    weights += weight;
  }
  return weights > 0 ? middle_ + unit_ * sum / weights : kUnseen;
}

double Blend::score_by(std::size_t view, double score) const {
  if (alone_ == view) return score;
  return middle_ + unit_ * standardised(view, score);
}

double Blend::share_alone(std::size_t view) const {
  return alone_ == view ? 1 : unit_ / parts_[view].deviation;
}

double Blend::standardised(std::size_t view, double score) const {
  return (score - parts_[view].mean) / parts_[view].deviation;
}

double Blend::share_of(std::size_t view, const std::vector<bool>& seen) const {
  if (alone_) return view == *alone_ && seen[view] ? 1 : 0;
  if (parts_[view].weight == 0) return 0;
  double weights = 0;
  for (std::size_t v = 0; v < parts_.size(); ++v) weights += seen[v] ? parts_[v].weight : 0;
  return weights > 0 ? unit_ * parts_[view].weight / parts_[view].deviation / weights : 0;
}

double Blend::rest_of(const std::vector<bool>& seen) const {
  if (alone_) return 0;
  double rest = middle_;
  for (std::size_t v = 0; v < parts_.size(); ++v) {
    if (seen[v]) rest -= share_of(v, seen) * parts_[v].mean;
  }
  return rest;
}

Trial Blend::trial(std::span<const Trial> views) const {
  Trial trial;
  if (views.empty()) return trial;
  trial.shuffles = views.front().shuffles;
  std::vector<double> scores(views.size());
  const auto blend = [&](std::vector<double> Trial::*column, std::vector<double>& out) {
    out.resize((views.front().*column).size());
    for (std::size_t i = 0; i < out.size(); ++i) {
      for (std::size_t v = 0; v < views.size(); ++v) scores[v] = (views[v].*column)[i];
      out[i] = score(scores.data());
    }
  };
  blend(&Trial::matched, trial.matched);
  blend(&Trial::null, trial.null);
  return trial;
}

void Blend::fill_unseen(Trial& trial) const {
  for (auto* scores : {&trial.matched, &trial.null}) {
    std::replace_if(
        scores->begin(), scores->end(), [](double score) { return std::isnan(score); }, middle_);
  }
}

void Blend::save(Writer& writer) const {
  writer.number<std::uint64_t>(parts_.size());
  for (const auto& part : parts_) {
    writer.number(part.weight);
    writer.number(part.mean);
    writer.number(part.deviation);
  }
}

Blend Blend::load(Reader& reader) {
  constexpr std::size_t kNumbers = 3;
  const auto count = reader.number<std::uint64_t>("views");
  if (count > reader.rest().size() / (kNumbers * sizeof(double))) {
    reader.refuse("views", fmt::format("found {}, which cannot be all there", count));
  }
  std::vector<Part> parts(count);
  for (auto& part : parts) {
    part.weight = reader.finite("weight of a view");
    part.mean = reader.finite("mean of a view");
    part.deviation = reader.finite("deviation of a view");
    const bool is_known = part.deviation > 0 || (part.deviation == 0 && part.weight == 0);
    if (part.weight < 0 || part.weight > 1 || !is_known) {
      reader.refuse("view", fmt::format("found the weight {} and the deviation {}, expected 0 to 1 "
                                        "and a positive number",
                                        part.weight, part.deviation));
    }
  }
  return Blend(std::move(parts));
}

Blend choose_blend(std::span<const Trial> trials, const Blend* before) {
  const Weighing weighing(trials);
  std::vector<double> none(trials.size(), 0);
  auto best = best_with_one_more(weighing, none);
  if (!best) return weighing.blend(none);
  while (auto next = best_with_one_more(weighing, best->weights)) {
    if (!is_clearly_better(next->merits, best->merits, kClearView)) break;
    best = std::move(next);
  }
  if (before != nullptr && before->parts().size() == trials.size()) {
    std::vector<double> weights;
    bool counts = false;
    for (std::size_t v = 0; v < trials.size(); ++v) {
      weights.push_back(before->parts()[v].weight);
      counts = counts || (weights[v] > 0 && weighing.varies(v));
    }
    if (counts) {
      auto earlier = weighing.try_out(std::move(weights));
      const bool is_better = best->merit > earlier.merit + kWorthwhile &&
                             is_clearly_better(best->merits, earlier.merits, kClearWeights);
      if (!is_better) {
        best = std::move(earlier);
      }
    }
  }
  return weighing.blend(best->weights);
}

Blend blend_with(std::span<const Trial> trials, const std::vector<double>& weights) {
  return Weighing(trials).blend(weights);
}

}  // namespace phsic
