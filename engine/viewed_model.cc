#include "engine/viewed_model.h"

#include "engine/stream_facts.h"

namespace phsic {

std::vector<ViewFacts> views_of(const PublishedModel& published) {
  std::vector<ViewFacts> views;
  for (std::size_t v = 0; published.viewed != nullptr && v < published.viewed->names.size(); ++v) {
    const auto& part = *published.viewed->parts[v];
    views.push_back({published.viewed->names[v], published.viewed->blend.parts()[v].weight,
                     part.estimator(), part.facts()->ridge, part.facts()->accuracy});
  }
  return views;
}

bool ViewedModel::asks(std::size_t view) const {
  return blend.parts()[view].weight > 0 || !has_say();
}

}  // namespace phsic
