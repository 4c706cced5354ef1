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

// Why a view cannot be asked; empty: it can.
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
  std::uint8_t counting = 0;
  bool can_tell = false;
  for (std::size_t v = 0; v < views.size(); ++v) {
    if (blend.parts()[v].weight == 0) continue;
    counting |= bit_of(v);
    can_tell = can_tell || views[v].has_value();
  }
  if (!can_tell) return std::nullopt;
  // As in scores: what no view that counts finds anything in is scored as it is.
  const bool is_seen = (seen & counting) != 0;
  PairExplanation whole;
  std::vector<double> scores(views.size(), kUnknown);
  std::vector<bool> speaks(views.size());
  for (std::size_t v = 0; v < views.size(); ++v) {
    auto& view = whole.views.emplace_back();
    const bool sees = !is_seen || (seen & bit_of(v)) != 0;
    view = {viewed.names[v], blend.parts()[v].weight, kUnknown, kUnknown,
            why_silent(views[v], sees)};
    speaks[v] = view.problem.empty();
    if (!speaks[v]) continue;
    scores[v] = view.score = views[v]->score;
    if (blend.parts()[v].deviation > 0) {
      view.standardised = blend.standardised(v, view.score);
    }
  }
  whole.score = blend.score(scores.data());
  if (std::isnan(whole.score)) {
    whole.problem = "no view that counts can score it";
    return whole;
  }
  whole.rest = blend.rest_of(speaks);
  for (std::size_t v = 0; v < views.size(); ++v) {
    if (!speaks[v]) continue;
    const double share = blend.share_of(v, speaks);
    whole.rest += share * views[v]->rest;
    add_parts(views[v]->raise, viewed.names[v], share, whole.raise);
    add_parts(views[v]->lower, viewed.names[v], share, whole.lower);
  }
  keep_strongest(top, whole.raise);
  keep_strongest(top, whole.lower);
  return whole;
}

}  // namespace phsic
