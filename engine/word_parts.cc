#include "engine/word_parts.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "core/explain.h"
#include "text/cut_text.h"

namespace phsic {
namespace {

// One text, and what is left of it without each of its first words.
struct Examined {
  Examined(std::string_view whole, std::size_t most)
      : text(whole), units(text::cut_text(whole, kLongestCutUp)) {
    const auto count = std::min(most, units.size());
    for (std::size_t i = 0; i < count; ++i) variants.push_back(without_word(text, units, i));
  }

  std::string_view text;
  text::TextUnits units;
  std::vector<std::string> variants;
};

// By the scores of the variants.
SideWords parts_of(const Examined& side, double whole, std::span<const double> scores,
                   std::size_t top) {
  SideWords words;
  words.count = side.units.size();
  words.unexamined = words.count - scores.size();
  std::vector<double> contributions;
  for (const double score : scores) {
    contributions.push_back(whole - score);
    if (std::isnan(score)) ++words.unexamined;
  }
  const auto part = [&](std::size_t place) {
    const auto word = text::cut_text(side.units.unit(place), kLongestToldWord);
    return SideWords::Part{contributions[place], place, std::string(word)};
  };
  const auto found = strongest(contributions, top);
  for (const auto place : found.raising) words.raise.push_back(part(place));
  for (const auto place : found.lowering) words.lower.push_back(part(place));
  return words;
}

}  // namespace

std::string without_word(std::string_view text, const text::TextUnits& units, std::size_t i) {
  const auto begin_of = [&](std::size_t unit) {
    return static_cast<std::size_t>(units.unit(unit).data() - text.data());
  };
  const auto end_of = [&](std::size_t unit) { return begin_of(unit) + units.unit(unit).size(); };
  const bool is_first = i == 0;
  const bool is_last = i + 1 == units.size();
  auto begin = begin_of(i);
  auto end = end_of(i);
  if (is_first && !is_last) {
    end = begin_of(i + 1);
  } else if (!is_first && (is_last || begin_of(i + 1) > end)) {
    begin = end_of(i - 1);
  }
  std::string rest(text.substr(0, begin));
  rest += text.substr(end);
  return rest;
}

PairWords explain_words(const ModelStream& stream, std::shared_ptr<const PublishedModel> published,
                        const TextPairView& pair, const ExplainQuestion& question) {
  const auto bytes = 2 * std::max<std::size_t>(1, pair.x.size() + pair.y.size());
  const auto most = std::min(kMostExaminedWords, kMostExaminedBytes / bytes);
  const Examined of_x(pair.x, most);
  const Examined of_y(pair.y, most);
  std::vector<std::string_view> x = {pair.x};
  std::vector<std::string_view> y = {pair.y};
  x.insert(x.end(), of_x.variants.begin(), of_x.variants.end());
  y.resize(x.size(), pair.y);
  y.insert(y.end(), of_y.variants.begin(), of_y.variants.end());
  x.resize(y.size(), pair.x);
  Batch batch;
  stream.encode({x, y, {}}, batch);
  if (question.was_learned) batch.was_learned.assign(batch.size(), 1);
  stream.score_by(std::move(published), batch);
  const auto scores = std::span<const double>(batch.scores).subspan(1);
  const auto count = of_x.variants.size();
  const double whole = batch.scores.front();
  return {parts_of(of_x, whole, scores.first(count), question.top),
          parts_of(of_y, whole, scores.subspan(count), question.top)};
}

}  // namespace phsic
