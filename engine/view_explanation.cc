#include "engine/view_explanation.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "engine/view_scores.h"

namespace phsic {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

// Why a view is not asked; empty: it is.
std::string why_silent(const std::optional<PairExplanation>& view, bool sees) {
  if (!view) return "it has no model";
  if (!view->problem.empty() || sees) return view->problem;
  return std::string(kNothingKnown);
}

// Adds the learned pairs of one view, as much as it counts in the whole.
void add_parts(const std::vector<PairExplanation::Part>& from, const std::string& view,
               double share, std::vector<PairExplanation::Part>& to) {
  for (auto part : from) {
    part.contribution *= share;
    part.view = view;
    if (part.contribution != 0) to.push_back(std::move(part));
  }
}

void keep_strongest(std::size_t top, std::vector<PairExplanation::Part>& parts) {
  std::stable_sort(parts.begin(), parts.end(), [](const auto& a, const auto& b) {
    return std::abs(a.contribution) > std::abs(b.contribution);
  });
  if (parts.size() > top) parts.resize(top);
}

}  // namespace

std::optional<PairExplanation> blend_explanations(
    const ViewedModel& viewed, const std::vector<std::optional<PairExplanation>>& views,
    std::uint8_t seen, std::size_t top) {
  const auto& blend = viewed.blend;
  bool can_tell = false;
  for (std::size_t v = 0; v < views.size(); ++v) {
    can_tell = can_tell || (blend.parts()[v].weight > 0 && views[v].has_value());
  }
  if (!can_tell) return std::nullopt;
  PairExplanation whole;
  std::vector<double> scores(views.size(), kUnknown);
  std::vector<bool> speaks(views.size());
  bool is_seen = false;  // by a view that counts
  for (std::size_t v = 0; v < views.size(); ++v) {
    const bool sees = (seen & bit_of(v)) != 0;
    auto& view = whole.views.emplace_back();
    view = {viewed.names[v], blend.parts()[v].weight, kUnknown, kUnknown,
            why_silent(views[v], sees)};
    speaks[v] = view.problem.empty();
    is_seen = is_seen || (speaks[v] && view.weight > 0);
  }
  // As in scores: what no view that counts finds anything in is said by the best other one that
  // does, or else by all that count.
  const auto other = std::find_if(viewed.others.begin(), viewed.others.end(),
                                  [&](std::size_t v) { return speaks[v]; });
  const bool is_others = !is_seen && other != viewed.others.end();
  for (std::size_t v = 0; v < views.size(); ++v) {
    const bool counts = blend.parts()[v].weight > 0;
    if (!is_seen && !is_others && counts && views[v] && views[v]->problem.empty()) {
      speaks[v] = true;
    }
    if (!speaks[v]) continue;
    auto& view = whole.views[v];
    scores[v] = view.score = views[v]->score;
    if (blend.parts()[v].deviation > 0) {
      view.standardised = blend.standardised(v, view.score);
    }
  }
  whole.score = is_others ? blend.score_by(*other, scores[*other]) : blend.score(scores.data());
  if (std::isnan(whole.score)) {
    whole.problem = "no view that counts can score it";
    return whole;
  }
  whole.rest = is_others ? blend.score_by(*other, 0) : blend.rest_of(speaks);
  for (std::size_t v = 0; v < views.size(); ++v) {
    if (!speaks[v] || (is_others && v != *other)) continue;
    const double share = is_others ? blend.share_alone(v) : blend.share_of(v, speaks);
    whole.rest += share * views[v]->rest;
    whole.own_share += share * views[v]->own_share;
    add_parts(views[v]->raise, viewed.names[v], share, whole.raise);
    add_parts(views[v]->lower, viewed.names[v], share, whole.lower);
  }
  keep_strongest(top, whole.raise);
  keep_strongest(top, whole.lower);
  return whole;
}

}  // namespace phsic
