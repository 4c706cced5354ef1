#include "core/calibration.h"

#include <algorithm>
#include <cmath>

namespace phsic {
namespace {

double count_from(const std::vector<double>& sorted, double score) {
  return static_cast<double>(sorted.end() - std::lower_bound(sorted.begin(), sorted.end(), score));
}

// How many of the matched scores fall below the null's median, compared with how many would if all
// were random; `more` is added to what was counted.
double share_of_random(const std::vector<double>& matched, const std::vector<double>& null,
                       double more) {
  const double median = null[null.size() / 2];
  const double low = static_cast<double>(matched.size()) - count_from(matched, median) + more;
  const double low_null = static_cast<double>(null.size()) - count_from(null, median);
  if (low_null == 0) return 1;
  const double share =
      (low / static_cast<double>(matched.size())) / (low_null / static_cast<double>(null.size()));
  return std::min(share, 1.0);
}

}  // namespace

Calibration::Calibration(std::vector<double> matched, std::vector<double> null)
    : matched_(std::move(matched)), null_(std::move(null)) {
  for (auto* scores : {&matched_, &null_}) {
    if (!std::all_of(scores->begin(), scores->end(), [](double s) { return std::isfinite(s); })) {
      throw Error("calibration: found a score that is not finite, expected finite scores");
    }
    std::sort(scores->begin(), scores->end());
  }
}

std::optional<double> Calibration::percentile(double score) const {
  if (matched_.empty() || std::isnan(score)) return std::nullopt;
  const auto [low, high] = std::equal_range(matched_.begin(), matched_.end(), score);
  const auto below = static_cast<double>(low - matched_.begin());
  const auto ties = static_cast<double>(high - low);
  return (below + ties / 2) / static_cast<double>(matched_.size());
}

std::optional<double> Calibration::p_value(double score) const {
  if (null_.empty() || std::isnan(score)) return std::nullopt;
  return (1 + count_from(null_, score)) / (1 + static_cast<double>(null_.size()));
}

std::optional<double> Calibration::random_share() const {
  if (is_empty()) return std::nullopt;
  return share_of_random(matched_, null_, 0);
}

std::optional<double> Calibration::threshold(double rate) const {
  if (is_empty()) return std::nullopt;
  // One more random pairing than seen, here as below: few observations are no proof of a small
  // rate.
  const double random = share_of_random(matched_, null_, 1);
  const auto matched = static_cast<double>(matched_.size());
  const auto null = static_cast<double>(null_.size());
  for (const double score : matched_) {
    const double expected = random * (1 + count_from(null_, score)) / (1 + null);
    if (expected <= rate * count_from(matched_, score) / matched) return score;
  }
  return std::nullopt;
}

double Calibration::deviation() const {
  if (matched_.size() < 2) return 0;
  const auto n = static_cast<double>(matched_.size());
  double mean = 0;
  for (const double score : matched_) mean += score / n;
  double squares = 0;
  for (const double score : matched_) squares += (score - mean) * (score - mean);
  return std::sqrt(squares / (n - 1));
}

void Calibration::save(Writer& writer) const {
  writer.array(matched_);
  writer.array(null_);
}

Calibration Calibration::load(Reader& reader) {
  const auto ascending = [&](const char* field) {
    std::vector<double> scores = reader.finite_array<double>(field);
    if (!std::is_sorted(scores.begin(), scores.end())) {
      reader.refuse(field, "found them out of order, expected them ascending");
    }
    return scores;
  };
  std::vector<double> matched = ascending("matched scores");
  std::vector<double> null = ascending("null scores");
  return {std::move(matched), std::move(null)};
}

}  // namespace phsic
