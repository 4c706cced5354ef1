#include "engine/view_refresh.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>
#include <thread>
#include <utility>

#include "core/error.h"
#include "core/model.h"
#include "core/refresh.h"
#include "engine/parallel.h"
#include "engine/view_scores.h"

namespace phsic {
namespace {

// The score of a pair that a view does not see.
constexpr double kUnseen = std::numeric_limits<double>::quiet_NaN();

// How many other y's each pair is compared with to find the weights: more than for a report, since
// the differences are small.
constexpr std::size_t kManyShuffles = 63;

// A view chooses its estimator by its even rows: where it has all pairs, these are the first half
// here, too, so that the other half has chosen nothing. The rows of a view that misses some are of
// both halves anyway.
void begin_at_even_row(Sightings::HeldBack& found) {
  const bool begins_odd =
      found.pairs > 0 && std::any_of(found.rows.begin(), found.rows.end(), [](const auto& rows) {
        return rows.front() % 2 != 0 &&
               std::find(rows.begin(), rows.end(), TrialPlan::kAbsent) == rows.end();
      });
  if (!begins_odd) return;
  for (auto& rows : found.rows) rows.erase(rows.begin());
  --found.pairs;
}

// The trial of a view that sees nothing.
Trial unseen_trial(const TrialPlan& plan) {
  Trial trial;
  trial.shuffles = std::min(plan.shuffles, plan.order.empty() ? 0 : plan.order.size() - 1);
  trial.matched.assign(plan.order.size(), kUnseen);
  trial.null.assign(plan.order.size() * trial.shuffles, kUnseen);
  return trial;
}

// Of every second pair from the `first` on.
std::size_t half_of(std::size_t pairs, std::size_t first) { return (pairs + 1 - first) / 2; }

}  // namespace

ViewStream::Frozen::Frozen(const ViewStream& stream, Extent extent)
    : names_(stream.names_),
      sightings_(stream.sightings_),
      chosen_(stream.blend_),
      pairs_(stream.pairs_),
      extent_(extent) {
  parts_.reserve(stream.views_.size());
  for (const auto& view : stream.views_) {
    auto frozen = view->freeze(extent);
    auto& part = parts_.emplace_back();
    part.frozen.reset(dynamic_cast<KernelStream::Frozen*>(frozen.release()));
    part.frozen->keep_held_back();
  }
}

void ViewStream::Frozen::Part::build() {
  try {
    frozen->build();
  } catch (const Error& error) {
    problem = error.what();
  }
  if (!is_measured()) return;
  Workspace workspace;
  const auto& held_back = frozen->held_back();
  frozen->model().map_x()->map(held_back.x.view(), x, workspace);
  frozen->model().map_y()->map(held_back.y.view(), y, workspace);
}

void ViewStream::Frozen::build() {
  const auto began = std::chrono::steady_clock::now();
  std::vector<std::size_t> held_back;
  held_back.reserve(parts_.size());
  for (const auto& part : parts_) held_back.push_back(part.frozen->held_back_count());
  for_each_in_parallel(parts_.size(), std::thread::hardware_concurrency(),
                       [&](std::size_t v) { parts_[v].build(); });
  if (std::none_of(parts_.begin(), parts_.end(),
                   [](const auto& part) { return part.problem.empty(); })) {
    throw Error(fmt::format("{}: {}", names_.front(), parts_.front().problem));
  }
  for (const auto& part : parts_) model_.problems.push_back(part.problem);
  auto found = sightings_.held_back(std::move(held_back));
  begin_at_even_row(found);
  choose(found);
  measure(found);
  sum_up();
  seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
}

bool ViewStream::Frozen::finds_anything(std::size_t view, std::size_t row) const {
  if (row == TrialPlan::kAbsent) return false;
  const auto& [x, y] = parts_[view].frozen->held_back();
  return finds_something(x.view(), row, y.view(), row);
}

// Trials of every `step`-th of the pairs, for each view; what a view does not see, or has no
// model for, is NaN.
std::vector<Trial> ViewStream::Frozen::run_trials(const Sightings::HeldBack& found,
                                                  std::size_t first, std::size_t step,
                                                  TrialPlan plan) const {
  std::vector<Trial> trials;
  trials.reserve(parts_.size());
  for (std::size_t v = 0; v < parts_.size(); ++v) {
    const auto& part = parts_[v];
    if (!part.is_measured()) {
      trials.push_back(unseen_trial(plan));
      continue;
    }
    plan.rows.clear();
    for (std::size_t p = first; p < found.pairs; p += step) {
      const auto row = found.rows[v][p];
      plan.rows.push_back(finds_anything(v, row) ? row : TrialPlan::kAbsent);
    }
    trials.push_back(run_trial(*part.frozen->measured(), part.x.features, part.y.features, plan));
  }
  return trials;
}

// Pairs are exchanged with those that came next before and after them: that x and y came at about
// the same time must not pass for knowing what belongs together.
void ViewStream::Frozen::choose(const Sightings::HeldBack& found) {
  const auto near = [](std::size_t count) {
    TrialPlan plan;
    plan.order.resize(count);
    std::iota(plan.order.begin(), plan.order.end(), std::size_t{0});
    plan.shuffles = kManyShuffles;
    plan.both_ways = true;
    return plan;
  };
  if (found.pairs >= kFewestHeldBack) {
    model_.blend = choose_blend(run_trials(found, 0, 2, near(half_of(found.pairs, 0))),
                                chosen_ ? &*chosen_ : nullptr);
    chosen_ = model_.blend;
    return;
  }
  // Nobody can tell, so all count as before, or alike, as far as they have a model.
  std::vector<double> weights(parts_.size(), 1);
  for (std::size_t v = 0; chosen_ && chosen_->has_say() && v < weights.size(); ++v) {
    weights[v] = chosen_->parts()[v].weight;
  }
  model_.blend = blend_with(run_trials(found, 0, 1, near(found.pairs)), weights);
}

void ViewStream::Frozen::measure(const Sightings::HeldBack& found) {
  const auto& parts = model_.blend.parts();
  const auto alone =
      std::find_if(parts.begin(), parts.end(), [](const auto& part) { return part.weight == 1; });
  if (alone != parts.end()) {
    // It has measured its scores, which are the stream's.
    const auto view = static_cast<std::size_t>(alone - parts.begin());
    const auto& model = parts_[view].frozen->model();
    model_.facts.accuracy = model.facts().accuracy;
    model_.calibration = model.calibration();
    return;
  }
  const auto is_nan = [](double score) { return std::isnan(score); };
  const auto blended = [&](std::size_t first, std::size_t shuffles) {
    constexpr std::uint64_t kSeed = 2;
    return model_.blend.trial(run_trials(
        found, first, 2, {random_order(half_of(found.pairs, first), kSeed), shuffles, false, {}}));
  };
  auto trial = blended(1, kShuffles);
  const auto others = blended(0, 0);
  // Who has chosen favours the choice too much to measure it, but may say where pairs stand.
  auto matched = trial.matched;
  matched.insert(matched.end(), others.matched.begin(), others.matched.end());
  std::erase_if(matched, is_nan);
  auto null = trial.null;
  std::erase_if(null, is_nan);
  if (matched.empty() || null.empty()) return;
  model_.calibration = Calibration(std::move(matched), std::move(null));
  model_.blend.fill_unseen(trial);
  model_.facts.accuracy = accuracy_of(trial);
}

void ViewStream::Frozen::sum_up() {
  auto& facts = model_.facts;
  facts.pairs = pairs_;
  double most = -1;
  for (std::size_t v = 0; v < parts_.size(); ++v) {
    if (!parts_[v].problem.empty()) continue;
    const auto& own = parts_[v].frozen->model().facts();
    facts.effective_pairs = std::max(facts.effective_pairs, own.effective_pairs);
    facts.epoch += own.epoch;
    const double weight = model_.blend.parts()[v].weight;
    if (weight > most) facts.dependence = own.dependence;
    most = std::max(most, weight);
  }
}

std::string ViewStream::Frozen::adoption() const {
  Writer writer;
  for (const auto& part : parts_) {
    writer.number<std::uint8_t>(part.problem.empty());
    if (part.problem.empty()) writer.text(part.frozen->adoption());
  }
  chosen_.value_or(Blend(std::vector<Blend::Part>(parts_.size()))).save(writer);
  return writer.bytes();
}

}  // namespace phsic
