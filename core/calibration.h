// What a score means: where it stands among recent pairs and against random pairing.
//
// It is made from the scores of held-back pairs as they are (matched) and with their y's exchanged
// (null). It is kept with the estimator that gave these scores, so that the two belong together;
// only a refresh that learns the held-back pairs afterwards keeps the calibration from before.
// Immutable.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "core/archive.h"

namespace phsic {

class Calibration {
 public:
  Calibration() = default;
  // Both in any order; throws if a score is not finite.
  Calibration(std::vector<double> matched, std::vector<double> null);

  [[nodiscard]] bool is_empty() const { return matched_.empty() || null_.empty(); }
  [[nodiscard]] const std::vector<double>& matched() const { return matched_; }
  [[nodiscard]] const std::vector<double>& null() const { return null_; }

  // The share of recent pairs that score lower, ties counted half: 0 to 1. None when empty or for
  // NaN.
  [[nodiscard]] std::optional<double> percentile(double score) const;

  // How often a random pairing scores as high: (1 + #null >= score) / (1 + #null). None when empty
  // or for NaN.
  [[nodiscard]] std::optional<double> p_value(double score) const;

  // The estimated share of random pairings among recent pairs, after Storey (2002): how many of
  // them fall below the null's median, compared with the half that would if all were random.
  [[nodiscard]] std::optional<double> random_share() const;

  // The lowest score s such that among recent pairs scoring at least s an estimated `rate` or less
  // are random pairings. None when there is no such score. REQUIRES: 0 < rate < 1.
  // On new pairs of the same stream the expected share of random pairings is at most `rate`; that
  // of one calibration varies by the relative error sqrt(1/a + 1/b + 1/c), a the matched scores
  // below the null's median, b and c the null and matched ones from the threshold on.
  [[nodiscard]] std::optional<double> threshold(double rate) const;

  // The standard deviation of the matched scores, 0 below two.
  [[nodiscard]] double deviation() const;

  static constexpr std::string_view kArchiveKind = "CALI";
  void save(Writer& writer) const;
  [[nodiscard]] static Calibration load(Reader& reader);

 private:
  std::vector<double> matched_;  // ascending
  std::vector<double> null_;     // ascending
};

}  // namespace phsic
