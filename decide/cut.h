// The cut: from what a user wants to keep to the lowest score that is kept.
//
//   keep: 0.67         two thirds of all pairs, those that rules and duplicates take away included
//   p: 0.01            pairs that a random pairing would beat in 1 of 100 cases at most
//   fdr: 0.05          of the pairs kept, an estimated 5% at most are random pairings
//   percentile: 0.3    pairs that score above three tenths of recent ones
//   score: 12.5        raw scores: for experts, and for streams that count
//   quality: 0.5       pairs that are at least so likely to be good; needs a judge
//
// A raw score means something under one model only, so the cut is chosen anew for each model, from
// its calibration.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/archive.h"
#include "core/calibration.h"

namespace phsic {

struct CutSpec {
  enum class Kind : std::uint8_t { kNone, kKeep, kP, kFdr, kPercentile, kScore, kQuality };
  Kind kind = Kind::kP;
  double value = 0.05;

  bool operator==(const CutSpec&) const = default;
};

// "none", or the name of the option.
[[nodiscard]] std::string_view name_of(CutSpec::Kind kind);
// "none", or "p 0.05".
[[nodiscard]] std::string describe_cut(const CutSpec& cut);

// Chooses the cut of each new model, and remembers what hysteresis needs: where an estimated cut
// (keep, fdr) changes by less than its own error, the share kept stays what it was; but a rate
// (fdr) that asks for a stricter cut gets it at once. p, percentile and score are kept to exactly.
// A value; not synchronised.
class CutPolicy {
 public:
  CutPolicy() = default;
  explicit CutPolicy(const CutSpec& spec) : spec_(spec) {}

  [[nodiscard]] const CutSpec& spec() const { return spec_; }
  // Another wish makes hysteresis forget what it has remembered.
  void set_spec(const CutSpec& spec);

  // The lowest score that is kept: -infinity keeps every score, +infinity keeps none. There is no
  // cut (nullopt) as long as the calibration is empty. A `p` below the smallest p-value that it can
  // tell counts as that one. `rejected` is the recent share of pairs that rules and duplicates took
  // away. An empty calibration is fine for kNone, kScore and kQuality.
  [[nodiscard]] std::optional<double> choose(const Calibration& calibration, double rejected);

  // What hysteresis remembers. load() throws an Error, and nothing changes, unless save() wrote it;
  // what was remembered for another wish than the present one is forgotten.
  void save(Writer& writer) const;
  void load(Reader& reader);
  bool operator==(const CutPolicy&) const = default;

 private:
  // Where the cut of keep or fdr would be without hysteresis; none: no score is kept.
  [[nodiscard]] std::optional<double> wanted_percentile(const Calibration& calibration,
                                                        double rejected) const;

  CutSpec spec_;
  std::optional<double> percentile_;  // of the last estimated cut
};

}  // namespace phsic
