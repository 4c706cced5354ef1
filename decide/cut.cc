#include "decide/cut.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

namespace phsic {
namespace {

constexpr double kEveryScore = -std::numeric_limits<double>::infinity();
constexpr double kNoScore = std::numeric_limits<double>::infinity();

// Numbers in the order of the doubles they stand for, -infinity to +infinity, without gaps.
constexpr std::uint64_t kSign = std::uint64_t{1} << 63;

std::uint64_t place_of(double score) {
  const auto bits = std::bit_cast<std::uint64_t>(score);
  return (bits & kSign) != 0 ? ~bits : bits | kSign;
}

double score_at(std::uint64_t place) {
  return std::bit_cast<double>((place & kSign) != 0 ? place & ~kSign : ~place);
}

// The lowest score that passes; +infinity if no finite one does. REQUIRES: above a score that
// passes every score does. It asks `passes` itself and not a formula, so that the cut and what is
// said about a score never differ by rounding.
template <class Passes>
double lowest_score(const Passes& passes) {
  if (passes(kEveryScore)) return kEveryScore;
  auto low = place_of(kEveryScore);  // does not pass
  auto high = place_of(kNoScore);    // passes, or is the end
  while (high - low > 1) {
    const auto middle = low + (high - low) / 2;
    (passes(score_at(middle)) ? high : low) = middle;
  }
  return score_at(high);
}

// A p-value smaller than any that can be counted is taken for the smallest that can.
double lowest_of_p(const Calibration& calibration, double p) {
  const double limit = std::max(p, *calibration.p_value(kNoScore));
  return lowest_score([&](double score) { return *calibration.p_value(score) <= limit; });
}

double lowest_of_percentile(const Calibration& calibration, double percentile) {
  return lowest_score([&](double score) { return *calibration.percentile(score) >= percentile; });
}

// The standard error of a percentile that the calibration's matched scores give.
double standard_error(const Calibration& calibration, double percentile) {
  const auto n = static_cast<double>(calibration.matched().size());
  return std::sqrt(percentile * (1 - percentile) / n);
}

}  // namespace

std::string_view name_of(CutSpec::Kind kind) {
  switch (kind) {
    case CutSpec::Kind::kNone: return "none";
    case CutSpec::Kind::kKeep: return "keep";
    case CutSpec::Kind::kP: return "p";
    case CutSpec::Kind::kFdr: return "fdr";
    case CutSpec::Kind::kPercentile: return "percentile";
    case CutSpec::Kind::kScore: return "score";
    case CutSpec::Kind::kQuality: return "quality";
  }
  return "unknown";
}

std::string describe_cut(const CutSpec& cut) {
  const auto name = name_of(cut.kind);
  return cut.kind == CutSpec::Kind::kNone ? std::string(name)
                                          : fmt::format("{} {:g}", name, cut.value);
}

void CutPolicy::set_spec(const CutSpec& spec) {
  spec_ = spec;
  percentile_.reset();
}

std::optional<double> CutPolicy::choose(const Calibration& calibration, double rejected) {
  using Kind = CutSpec::Kind;
  if (spec_.kind == Kind::kNone) return kEveryScore;
  if (spec_.kind == Kind::kScore || spec_.kind == Kind::kQuality) return spec_.value;
  if (calibration.is_empty()) return std::nullopt;
  if (spec_.kind == Kind::kP) return lowest_of_p(calibration, spec_.value);
  if (spec_.kind == Kind::kPercentile) return lowest_of_percentile(calibration, spec_.value);
  const std::optional<double> wanted = wanted_percentile(calibration, rejected);
  if (!wanted) {
    percentile_.reset();
    return kNoScore;
  }
  // A promised rate must not be exceeded for the sake of calm: a stricter cut is taken at once.
  const bool is_stricter = spec_.kind == Kind::kFdr && percentile_ && *wanted > *percentile_;
  const bool is_settled = percentile_ && !is_stricter &&
                          std::abs(*wanted - *percentile_) < standard_error(calibration, *wanted);
  if (!is_settled) percentile_ = wanted;
  return lowest_of_percentile(calibration, *percentile_);
}

std::optional<double> CutPolicy::wanted_percentile(const Calibration& calibration,
                                                   double rejected) const {
  if (spec_.kind == CutSpec::Kind::kKeep) {
    // The share to keep of the pairs that are left to the score.
    const double left = 1 - rejected;
    return left > spec_.value ? 1 - spec_.value / left : 0;
  }
  const std::optional<double> threshold = calibration.threshold(spec_.value);
  if (!threshold) return std::nullopt;
  return calibration.percentile(*threshold);
}

void CutPolicy::save(Writer& writer) const {
  writer.number(spec_.kind);
  writer.number(spec_.value);
  writer.number<std::uint8_t>(percentile_.has_value());
  writer.number(percentile_.value_or(0));
}

void CutPolicy::load(Reader& reader) {
  CutSpec spec;
  spec.kind = reader.enumerator("kind of the cut", CutSpec::Kind::kQuality);
  spec.value = reader.finite("value of the cut");
  const bool is_known = reader.flag("cut has a percentile");
  const double percentile = reader.finite("percentile of the cut");
  if (percentile < 0 || percentile > 1 || (!is_known && percentile != 0)) {
    reader.refuse("percentile of the cut", "found one out of range, expected 0 to 1");
  }
  percentile_.reset();
  if (is_known && spec == spec_) percentile_ = percentile;
}

}  // namespace phsic
