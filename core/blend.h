// One score of several scores of the same pair, each by another view of it.
//
//   score = M + D sum_v w_v z_v / sum_v w_v,   z_v = (s_v - m_v) / d_v
//
// over the views v that see the pair. s_v is what view v scores, m_v and d_v are mean and deviation
// of its scores of exchanged pairs, so that every view speaks in deviations from random pairing;
// w_v >= 0 is how much it counts. M and D are the means of all m_v and d_v, weighted by w_v: they
// put the score on the views' own scale. The score of a view that alone counts is its own. A value.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/archive.h"
#include "core/measure.h"

namespace phsic {

class Blend {
 public:
  struct Part {
    double weight = 0;  // all weights add up to 1, or to 0 where no view counts
    double mean = 0;
    double deviation = 0;  // 0: its scores do not vary, or nobody knows; then it does not count

    bool operator==(const Part&) const = default;
  };

  Blend() = default;
  // REQUIRES: such parts.
  explicit Blend(std::vector<Part> parts);

  [[nodiscard]] const std::vector<Part>& parts() const { return parts_; }
  // Whether any view counts.
  [[nodiscard]] bool has_say() const;
  // The score of a pair that view v scores scores[v], NaN where it does not see the pair. NaN when
  // no view that counts sees it.
  [[nodiscard]] double score(const double* scores) const;
  // The score of a pair that only view v sees, which need not count: put on the blend's scale.
  // REQUIRES: its deviation is above 0.
  [[nodiscard]] double score_by(std::size_t view, double score) const;
  // What such a score has in it of the view's own.
  [[nodiscard]] double share_alone(std::size_t view) const;
  // M, which a random pairing scores.
  [[nodiscard]] double middle() const { return middle_; }
  // How many standard deviations a score of view v stands above random pairings. REQUIRES: its
  // deviation is above 0.
  [[nodiscard]] double standardised(std::size_t view, double score) const;
  // The score of a pair that the views with `seen` see is rest_of(seen) and, for each of them, its
  // score times share_of().
  [[nodiscard]] double share_of(std::size_t view, const std::vector<bool>& seen) const;
  [[nodiscard]] double rest_of(const std::vector<bool>& seen) const;
  // The trial of the score that trials of the views make; their pairs are the same, exchanged
  // alike.
  [[nodiscard]] Trial trial(std::span<const Trial> views) const;
  // A pair that no view sees is as good as a random one.
  void fill_unseen(Trial& trial) const;

  static constexpr std::string_view kArchiveKind = "BLND";
  void save(Writer& writer) const;
  [[nodiscard]] static Blend load(Reader& reader);

  bool operator==(const Blend&) const = default;

 private:
  std::vector<Part> parts_;
  double middle_ = 0;                 // M
  double unit_ = 0;                   // D
  std::optional<std::size_t> alone_;  // the one view that counts
};

// The blend that tells matched pairs from exchanged ones best, by trials of the same pairs, one for
// each view. A view counts only where it makes the blend better by a standard error, beginning with
// the best one; `before`, unless it is null or has other views, keeps its weights unless others are
// better by two and by .005 in merit. So a view that does not help gets 0, and so does one that
// does not vary, or sees nothing.
[[nodiscard]] Blend choose_blend(std::span<const Trial> trials, const Blend* before);

// The blend with these weights, as far as the views vary, by the means and deviations in the
// trials.
[[nodiscard]] Blend blend_with(std::span<const Trial> trials, const std::vector<double>& weights);

}  // namespace phsic
