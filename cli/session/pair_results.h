// What comes back of pairs, in columns: one value for each pair.
#pragma once

#include <cstddef>
#include <limits>
#include <vector>

#include "core/calibration.h"
#include "decide/decision.h"
#include "engine/batch.h"

namespace phsic {

struct PairResults {
  static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

  std::vector<double> scores;         // kNone for a pair in `problems`
  std::vector<double> percentiles;    // kNone where nobody can tell
  std::vector<double> p_values;       // kNone where nobody can tell
  std::vector<double> qualities;      // kNone where nobody can tell
  std::vector<double> soft_minima;    // of the judge's experts, likewise
  std::vector<Decision> decisions;    // empty: a daemon that does not decide gave the scores
  std::vector<PairProblem> problems;  // ascending
  std::vector<LeftOut> left_out;      // ascending; views of the stream that could not be asked

  // Room for `count` pairs, of which nothing is known.
  void reset(std::size_t count) {
    scores.assign(count, kNone);
    percentiles.assign(count, kNone);
    p_values.assign(count, kNone);
    qualities.assign(count, kNone);
    soft_minima.assign(count, kNone);
    decisions.assign(count, Decision());
    problems.clear();
    left_out.clear();
  }
  // What a judge says of pair i.
  void set(std::size_t i, const Judgement& judgement) {
    qualities[i] = judgement.quality;
    soft_minima[i] = judgement.soft_minimum;
  }
  // The score of pair i and what it means.
  void set(std::size_t i, double score, const Calibration& calibration) {
    scores[i] = score;
    percentiles[i] = calibration.percentile(score).value_or(kNone);
    p_values[i] = calibration.p_value(score).value_or(kNone);
  }
};

}  // namespace phsic
