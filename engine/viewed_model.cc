#include "engine/viewed_model.h"

#include <algorithm>

#include "engine/stream_facts.h"

namespace phsic {

std::vector<ViewFacts> views_of(const PublishedModel& published) {
  std::vector<ViewFacts> views;
  for (std::size_t v = 0; published.viewed != nullptr && v < published.viewed->names.size(); ++v) {
    const auto& part = *published.viewed->parts[v];
    views.push_back({published.viewed->names[v], published.viewed->blend.parts()[v].weight,
                     part.estimator(), part.facts()->ridge, part.facts()->accuracy, ""});
    const auto& problems = published.viewed->problems;
    if (part.estimator().empty() && v < problems.size()) views.back().problem = problems[v];
  }
  return views;
}

void ViewedModel::find_others() {
  others.clear();
  if (!has_say()) return;
  for (std::size_t v = 0; v < parts.size(); ++v) {
    const auto& [weight, mean, deviation] = blend.parts()[v];
    if (weight == 0 && deviation > 0 && !parts[v]->estimator().empty()) others.push_back(v);
  }
  const auto merit = [this](std::size_t v) {
    const auto& accuracy = parts[v]->facts()->accuracy;
    return accuracy ? accuracy->auc : 0;
  };
  std::stable_sort(others.begin(), others.end(),
                   [&](std::size_t a, std::size_t b) { return merit(a) > merit(b); });
}

bool ViewedModel::asks(std::size_t view) const {
  return blend.parts()[view].weight > 0 || !has_say();
}

}  // namespace phsic
