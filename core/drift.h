// The drift alarm: do new pairs still score like those a model was calibrated with?
//
// A model's calibration holds the scores of recent pairs it had not learned. While the stream stays
// as it was, the scores of the pairs that follow are a second sample of the same distribution. The
// alarm compares the two with the two-sample test of Kolmogorov and Smirnov, which takes any change
// of the distribution for drift, to lower scores as to higher ones.
//
// It looks after 64 pairs, then after 128 more, 256 more, up to kLargestWindow, and every so many
// from then on. Each look is at the pairs since the look before, so that those from before a change
// do not hide it, and look k may raise the alarm at p <= alpha / (k (k + 1)). These limits add up
// to alpha, hence the promise: if the pairs given are independent and distributed like those of the
// calibration, a model raises an alarm with probability at most alpha, however many pairs it is
// given. So at most a share alpha of all models of a stationary stream do, in expectation. The
// promise holds for tied scores, too: ties only make p-values larger.
//
// The calibration must be by the very model that scores: not of Extent::kAll (refresh.h), which
// changes the model after calibrating. Pairs that resemble their neighbours in time (one talk, one
// document) are not independent, and alarms are then more frequent than alpha.
//
// A value, of constant size between restarts; adding allocates nothing. One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/archive.h"
#include "core/calibration.h"

namespace phsic {

inline constexpr double kDefaultDriftAlpha = 0.01;

// What one look at the scores has found.
struct DriftLook {
  std::uint64_t pairs = 0;  // given since the restart, those looked at included
  double p_value = 1;       // how likely scores this different are if nothing has changed
  double limit = 0;         // p-values up to this one are an alarm
  bool is_alarm = false;
};

class DriftAlarm {
 public:
  static constexpr std::uint64_t kFirstWindow = 64;
  static constexpr std::uint64_t kLargestWindow = 4096;

  // Throws unless 0 < alpha < 1. Until restarted it never looks.
  explicit DriftAlarm(double alpha = kDefaultDriftAlpha);

  // Begins anew with the model that has this calibration. Never looks if the calibration is empty.
  void restart(const Calibration& calibration);

  // Takes the score of a new pair by the model; NaN is ignored. Returns the look if this pair
  // completed a window. A model raises at most one alarm: after it there is no look until the
  // restart.
  std::optional<DriftLook> add(double score);
  // The same for several scores, in order. Returns the last look, if there was one.
  std::optional<DriftLook> add(std::span<const double> scores);

  [[nodiscard]] double alpha() const { return alpha_; }
  // Of the present model: looks taken, the last of them, and whether it was an alarm.
  [[nodiscard]] std::uint64_t looks() const { return looks_; }
  [[nodiscard]] const std::optional<DriftLook>& last_look() const { return last_; }
  [[nodiscard]] bool is_raised() const { return last_ && last_->is_alarm; }

  static constexpr std::string_view kArchiveKind = "DRFT";
  void save(Writer& writer) const;
  [[nodiscard]] static DriftAlarm load(Reader& reader);

 private:
  [[nodiscard]] std::uint64_t reference_size() const { return below_.empty() ? 0 : below_.back(); }
  [[nodiscard]] std::uint64_t window() const;
  [[nodiscard]] std::uint64_t distance() const;
  const DriftLook& look();
  void remember(double p_value);
  void require_consistent(const Reader& reader) const;

  double alpha_;
  // The two distributions are compared at these scores, strictly ascending: before and after each
  // group of reference scores that are equal but for rounding. below_[j] reference scores are less
  // than edges_[j].
  std::vector<double> edges_;
  std::vector<std::uint64_t> below_;
  std::vector<std::uint64_t> counts_;  // new scores before, between and after the edges
  std::uint64_t in_window_ = 0;        // sum of counts_
  std::uint64_t before_window_ = 0;    // pairs of the looks so far
  std::uint64_t looks_ = 0;
  std::optional<DriftLook> last_;
};

// The p-value of the two-sample test: how likely the empirical distributions of m and n independent
// draws from one continuous distribution are at least distance / (m n) apart somewhere. Exact, by
// counting paths, up to m n = 65536; the limit of many draws beyond, where it is too large rather
// than too small. REQUIRES: m, n > 0, m n < 2^63.
[[nodiscard]] double smirnov_p_value(std::uint64_t distance, std::uint64_t m, std::uint64_t n);

}  // namespace phsic
