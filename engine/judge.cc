#include "engine/judge.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/batch.h"
#include "engine/stream_facts.h"

namespace phsic {

void Judge::judge(const PairsToJudge& pairs, Judgement* judgements, JudgeScratch& scratch) const {
  const std::size_t rows = row_count(pairs.views.front().items.x);
  const std::size_t columns = reader_.size();
  const std::size_t kinds = fitted_.experts.size();
  scratch.rows.resize(rows * columns);
  scratch.log_odds.resize(kinds);
  reader_.read(pairs, scratch.rows.data(), scratch);
  for (std::size_t i = 0; i < rows; ++i) {
    double* const row = scratch.rows.data() + i * columns;
    fitted_.standardiser.apply(row, row);
    auto& judgement = judgements[i];
    double lowest = 0;
    double likeliest = 0;
    for (std::size_t k = 0; k < kinds; ++k) {
      const auto& expert = fitted_.experts[k];
      scratch.log_odds[k] = expert.model.log_odds(row);
      if (k == 0 || scratch.log_odds[k] < lowest) lowest = scratch.log_odds[k];
      const double name = expert.name.log_odds(row);
      if (k > 0 && name <= likeliest) continue;
      likeliest = name;
      judgement.kind = expert.kind->number;
    }
    double sum = 0;
    for (std::size_t k = 0; k < kinds; ++k) sum += std::exp(lowest - scratch.log_odds[k]);
    judgement.soft_minimum = lowest - std::log(sum);
    judgement.quality = fitted_.shares.quality(scratch.log_odds.data());
  }
}

void Judge::save(Writer& writer) const {
  const auto& views = reader_.views();
  writer.number<std::uint8_t>(static_cast<std::uint8_t>(views.size()));
  for (const auto& view : views) {
    writer.number<std::uint8_t>(static_cast<std::uint8_t>(view.number));
    writer.number<std::uint8_t>(view.halves);
  }
  writer.number(reader_.norm().mean_difference);
  writer.number(reader_.norm().mean_word_difference);
  fitted_.standardiser.save(writer);
  writer.number<std::uint8_t>(static_cast<std::uint8_t>(fitted_.experts.size()));
  for (const auto& [kind, model, name] : fitted_.experts) {
    writer.number(kind->number);
    model.save(writer);
    name.save(writer);
  }
  writer.number(fitted_.shares.good);
  writer.array(fitted_.shares.kinds);
  writer.array(fitted_.damage);
  writer.number(fitted_.pairs);
  writer.number<std::uint8_t>(fitted_.is_sampled);
  writer.number<std::uint8_t>(reader_.fluency() != nullptr);
  if (reader_.fluency() == nullptr) return;
  reader_.fluency()->x.save(writer);
  reader_.fluency()->y.save(writer);
}

SavedJudge SavedJudge::load(Reader& reader) {
  SavedJudge saved;
  const auto views = reader.number_in<std::uint8_t>("views of a judge", 1, kMostViews);
  for (std::uint8_t v = 0; v < views; ++v) {
    View view;
    view.number = reader.number_in<std::uint8_t>("view of a judge", 0, kMostViews - 1);
    view.halves = reader.flag("halves");
    saved.views.push_back(view);
  }
  saved.norm.mean_difference = reader.finite("mean difference of lengths");
  saved.norm.mean_word_difference = reader.finite("mean difference of words");
  auto& fitted = saved.fitted;
  fitted.standardiser = Standardiser::load(reader);
  const auto kinds = damage_kinds();
  const auto most = static_cast<std::uint8_t>(kinds.size());
  const auto experts = reader.number_in<std::uint8_t>("experts", 1, most);
  for (std::uint8_t k = 0; k < experts; ++k) {
    const auto number = reader.number_in<std::uint8_t>("kind of damage", 0, most - 1);
    auto model = Logistic::load(reader, fitted.standardiser.columns());
    fitted.experts.push_back(
        {&kinds[number], std::move(model), Logistic::load(reader, fitted.standardiser.columns())});
  }
  fitted.shares.good = reader.finite("share of good pairs");
  fitted.shares.kinds = reader.finite_array<double>("shares of damage", experts);
  const auto is_share = [](double share) { return share > 0 && share <= 1; };
  const auto& shares = fitted.shares.kinds;
  if (!is_share(fitted.shares.good) || !std::all_of(shares.begin(), shares.end(), is_share)) {
    reader.refuse("shares", "found one out of range, expected numbers above 0, up to 1");
  }
  fitted.damage = reader.finite_array<double>("damage by its name", experts);
  if (std::any_of(fitted.damage.begin(), fitted.damage.end(),
                  [](double share) { return share < 0 || share > 1; })) {
    reader.refuse("damage by its name", "found a share out of range, expected 0 to 1");
  }
  fitted.pairs = reader.number<std::uint64_t>("pairs that fitted a judge");
  fitted.is_sampled = reader.flag("sampled");
  if (!reader.flag("fluency")) return saved;
  auto x = Fluency::load(reader);
  saved.fluency =
      std::make_shared<const FluencyPair>(FluencyPair{std::move(x), Fluency::load(reader)});
  return saved;
}

std::optional<DamageFacts> damage_of(const PublishedModel& published) {
  if (published.judge == nullptr) return std::nullopt;
  const auto& fitted = published.judge->fitted();
  DamageFacts facts;
  facts.junk_share = 1 - fitted.shares.good;
  for (std::size_t k = 0; k < fitted.experts.size(); ++k) {
    facts.kinds.emplace_back(fitted.experts[k].kind->name, fitted.damage[k]);
  }
  return facts;
}

}  // namespace phsic
