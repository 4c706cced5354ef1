#include "engine/expert_opinion.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "core/explain.h"

namespace phsic {

std::optional<ExpertOpinion> expert_opinion(const Judge& judge, Batch& batch, std::size_t top) {
  const auto& judgement = batch.judgements.front();
  if (std::isnan(judgement.quality)) return std::nullopt;
  const auto& experts = judge.fitted().experts;
  const auto expert = std::find_if(experts.begin(), experts.end(), [&](const Expert& one) {
    return one.kind->number == judgement.kind;
  });
  const auto& reader = judge.reader();
  std::vector<double> row(reader.size());
  reader.read({batch.x_texts, batch.y_texts, batch.judging.views, batch.was_learned}, row.data(),
              batch.judging);
  judge.fitted().standardiser.apply(row.data(), row.data());
  ExpertOpinion opinion;
  opinion.damage = expert->kind->name;
  opinion.about = expert->kind->about;
  opinion.log_odds = expert->model.log_odds(row.data());
  std::vector<double> parts;
  for (std::size_t i = 0; i < row.size(); ++i) parts.push_back(expert->model.weights[i] * row[i]);
  for (const auto i : strongest(parts, top).lowering) {
    opinion.components.push_back(
        {parts[i], row[i], reader.name_of(i), std::string(reader.about(i))});
  }
  return opinion;
}

}  // namespace phsic
