// Sufficient statistics of a stream of feature pairs: weighted sums about a fixed origin o.
//
//   W = sum w      W2 = sum w^2      s_x = sum w (x - o_x)      s_y likewise
//   M_xy = sum w (x - o_x)(y - o_y)^T      M_xx, M_yy likewise (unless cross only)
//
// Being sums, they merge by addition and forget by multiplication. Blocks are multiplied in the
// features' precision (one GEMM, two SYRK) and added in double; sparse blocks take whichever of the
// two routes costs less. Not synchronised: one thread at a time; copies are independent.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include "core/archive.h"
#include "core/items.h"
#include "core/stream_config.h"
#include "core/workspace.h"

namespace phsic {

// Means and covariances, as the estimators want them.
struct Covariance {
  double weight = 0;           // W
  double effective_pairs = 0;  // n_eff = W^2 / W2
  Eigen::VectorXd mean_x;      // m_x
  Eigen::VectorXd mean_y;      // m_y
  Eigen::MatrixXd xy;          // C_xy, d_x x d_y
  Eigen::MatrixXd xx;          // C_xx; empty when cross only
  Eigen::MatrixXd yy;          // C_yy; empty when cross only

  double noise_x = 0;  // a trace of C_xx up to this is rounding, not variance
  double noise_y = 0;
  bool is_estimated = false;  // see Moments::mark_estimated()

  [[nodiscard]] bool has_both() const { return xx.size() > 0 && yy.size() > 0; }
  // Do both sides vary at all?
  [[nodiscard]] bool has_variance() const {
    return has_both() && xx.trace() > noise_x && yy.trace() > noise_y;
  }
};

class Moments {
 public:
  using Parts = MomentParts;

  // `half_life` is in the unit of time that advance() is given, be it seconds or pairs; infinite
  // for sums that never forget.
  Moments(std::size_t dim_x, std::size_t dim_y, Parts parts,
          double half_life = std::numeric_limits<double>::infinity());

  [[nodiscard]] std::size_t dim_x() const { return dim_x_; }
  [[nodiscard]] std::size_t dim_y() const { return dim_y_; }
  [[nodiscard]] Parts parts() const { return parts_; }
  [[nodiscard]] std::uint64_t pairs() const { return pairs_; }
  [[nodiscard]] double weight() const { return scale_ * weight_; }
  [[nodiscard]] double squared_weight() const { return scale_ * scale_ * squared_weight_; }
  [[nodiscard]] double now() const { return now_; }
  [[nodiscard]] double half_life() const { return half_life_; }

  // Moves both sides to a new origin. The covariances stay the same but for rounding.
  void move_origin(const Eigen::VectorXd& x, const Eigen::VectorXd& y);
  [[nodiscard]] Eigen::VectorXd origin_x() const;
  [[nodiscard]] Eigen::VectorXd origin_y() const;

  // Adds a block of pairs, pair i with weights[i]; null weights are all 1.
  // REQUIRES: feature rows of dimensions dim_x() and dim_y(), as many x as y, finite, and weights
  // that are finite and not negative.
  template <class T>
  void add(const Items<T>& x, const Items<T>& y, const double* weights, Workspace& workspace);

  // Forgets: everything so far is weighted 2^((now() - later) / half-life), and now() is `later`.
  // Going backwards does nothing.
  void advance(double later);
  // Declares the present to be `now` without forgetting anything.
  void set_now(double now) { now_ = now; }

  // Adds the other's pairs, brought to the later time of the two and to our origin. Throws unless
  // dimensions, parts and half-life are the same.
  void merge(const Moments& other);

  // New features x' = a x, y' = b y of the same pairs (see carry.h).
  void transform(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b);

  // From now on these count as no more than `pairs` effective pairs, as when they were estimated
  // from a sample.
  void limit_effective_pairs(double pairs);

  // Archives of this version and later say whether sums are estimates.
  static constexpr std::uint32_t kEstimatesSince = 3;
  // Notes that some of these sums are estimates and no longer sums over the pairs.
  void mark_estimated() { is_estimated_ = true; }

  // Adds the sums of `plus` and subtracts those of `minus`, whose weights are the same: W stays.
  // REQUIRES: dimensions, parts and origins like ours, and neither ever forgetting.
  void correct(const Moments& plus, const Moments& minus);

  // Replaces means and covariances (and with them the dimensions) by those given, about the given
  // origin; weights, pairs and time stay.
  void assign(const Covariance& covariance, const Eigen::VectorXd& origin_x,
              const Eigen::VectorXd& origin_y);

  // Zeros when nothing was added.
  [[nodiscard]] Covariance covariance() const;

  static constexpr std::string_view kArchiveKind = "MOMS";
  void save(Writer& writer) const;
  [[nodiscard]] static Moments load(Reader& reader);

 private:
  template <class T>
  struct Side;
  template <class T>
  void add_cross(const Side<T>& x, const Side<T>& y, Workspace& workspace);
  template <class T>
  void add_self(const Side<T>& side, std::vector<double>& sums, Workspace& workspace);
  void rescale();

  std::size_t dim_x_;
  std::size_t dim_y_;
  Parts parts_;
  std::uint64_t pairs_ = 0;
  double half_life_;
  double now_ = 0;
  // Forgetting multiplies this factor instead of every sum: a true sum is scale_ times the stored
  // one, and W2 is scale_ squared times the stored one.
  double scale_ = 1;
  double weight_ = 0;
  double squared_weight_ = 0;
  double rounding_ = 0;  // relative error of the coarsest features added
  bool is_estimated_ = false;
  std::vector<double> origin_x_;
  std::vector<double> origin_y_;
  std::vector<double> sum_x_;
  std::vector<double> sum_y_;
  std::vector<double> xy_;  // row-major
  std::vector<double> xx_;  // row-major, upper triangle; empty when cross only
  std::vector<double> yy_;
};

}  // namespace phsic
