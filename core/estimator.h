// Estimators: from covariances to the score of a pair. One shape for all of them, two projections
// and two weight vectors:
//
//   u = P_x^T (phi(x) - m_x),   v = P_y^T (psi(y) - m_y)
//   score = c + sum_i [ w_i u_i v_i - q_i (u_i^2 + v_i^2) / 2 ]
//
//   phsic         C_xy and the identity (exact), or the top r singular vectors of C_xy with its
//                 singular values as w; q = 0 (Yokoi et al., 2018, equation 13)
//   whitened      L_x^-T U and L_y^-T V, w = rho, q = 0
//   gaussian-pmi  the same projections, w = rho / (1 - rho^2), q = rho^2 / (1 - rho^2),
//                 c = -1/2 sum log(1 - rho^2): log p(x,y) / p(x)p(y) of jointly Gaussian features
//
// where C_xx + ridge tr(C_xx)/d I = L_x L_x^T, likewise y, and U diag(rho) V^T is the singular
// value decomposition of L_x^-1 C_xy L_y^-T, rho at most kMaxCorrelation. The cost of a score does
// not depend on how many pairs were learned. Built once, then immutable: share it between threads
// freely.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/archive.h"
#include "core/estimator_spec.h"
#include "core/feature_block.h"
#include "core/items.h"
#include "core/moments.h"
#include "core/workspace.h"

namespace phsic {

inline constexpr double kMaxCorrelation = 0.999;

// The directions in which x and y are correlated, strongest first.
struct CanonicalBasis {
  Eigen::MatrixXd x;    // P_x, d_x x r
  Eigen::MatrixXd y;    // P_y, d_y x r
  Eigen::VectorXd rho;  // canonical correlations, descending, at most kMaxCorrelation
};

// The basis has at most `rank` directions. A side with no variance has none: the basis is then
// empty and every score 0. Throws unless the covariance has both sides and ridge is finite and
// positive.
[[nodiscard]] CanonicalBasis canonical_basis(const Covariance& covariance, double ridge,
                                             std::size_t rank, std::uint64_t seed);

template <class T>
class Estimator {
 public:
  // rank 0 is exact. `centered` false subtracts no means, neither from the features nor in C_xy, as
  // the published implementation can: score = phi(x)^T E[phi psi^T] psi(y).
  [[nodiscard]] static Estimator phsic(const Covariance& covariance, std::size_t rank,
                                       bool centered, std::uint64_t seed);
  [[nodiscard]] static Estimator whitened(const Covariance& covariance,
                                          const CanonicalBasis& basis);
  [[nodiscard]] static Estimator gaussian_pmi(const Covariance& covariance,
                                              const CanonicalBasis& basis);

  [[nodiscard]] EstimatorKind kind() const { return kind_; }
  [[nodiscard]] std::size_t rank() const { return w_.size(); }
  [[nodiscard]] std::size_t dim_x() const { return x_.dim; }
  [[nodiscard]] std::size_t dim_y() const { return y_.dim; }

  // scores[i] of row i of x with row i of y. REQUIRES: features of dim_x() and dim_y(), as many
  // rows of each. The bits of a score depend on its two rows alone, not on how many others there
  // are. A row with a NaN or an infinity gets a score that is not finite; the others are untouched
  // by it.
  // own_shares[i], not negative, is the share of row i in what was learned, which is taken out of
  // its score (own_share.h); 0 takes out nothing. Null: nothing is taken out of any.
  // The coordinates of row i are left in row first_kept + i of `kept`, which must have the room;
  // null: they are not kept.
  void score(const Items<T>& x, const Items<T>& y, double* scores, Workspace& workspace,
             const double* own_shares = nullptr, PairCoordinates<T>* kept = nullptr,
             std::size_t first_kept = 0) const;

  // scores[j] of the one row of x with row j of y, to the bits that score() gives.
  void score_one_to_many(const Items<T>& x, const Items<T>& y, double* scores,
                         Workspace& workspace) const;

  // The r coordinates u or v of each row, before those of the mean are subtracted. They are in
  // `storage` (rows x rank()) or, where the projection is the identity, in the features themselves.
  // This is one product for the whole block, so the last bits of a row depend on the block; those
  // of score() do not.
  const T* project_x(const Items<T>& x, T* storage) const { return x_.project(x, storage); }
  const T* project_y(const Items<T>& y, T* storage) const { return y_.project(y, storage); }
  // The same, but the bits of a row depend on that row alone.
  const T* project_rows_x(const Items<T>& x, T* storage, Workspace& workspace) const {
    return x_.project_rows(x, storage, workspace);
  }
  const T* project_rows_y(const Items<T>& y, T* storage, Workspace& workspace) const {
    return y_.project_rows(y, storage, workspace);
  }
  // The score from two rows of such coordinates.
  [[nodiscard]] double combine(const T* u, const T* v) const;

  // P_x^T m_x and P_y^T m_y, which are subtracted from the coordinates.
  [[nodiscard]] const std::vector<double>& mean_u() const { return x_.mean; }
  [[nodiscard]] const std::vector<double>& mean_v() const { return y_.mean; }
  [[nodiscard]] const std::vector<double>& w() const { return w_; }
  // Empty when all 0.
  [[nodiscard]] const std::vector<double>& q() const { return q_; }
  [[nodiscard]] double c() const { return c_; }
  // True for phsic at rank 0. Its u = C_xy^T (phi(x) - m_x) are not coordinates of x and do not
  // tell m_x, so m_x is kept by itself; m_y is mean_v().
  [[nodiscard]] bool is_exact() const { return y_.identity; }
  [[nodiscard]] const std::vector<double>& mean_x() const { return mean_x_; }
  // False where no means are subtracted, or only zeros.
  [[nodiscard]] bool is_centered() const;

  static constexpr std::string_view kArchiveKind = sizeof(T) == 4 ? "ESTf" : "ESTd";
  void save(Writer& writer) const;
  [[nodiscard]] static Estimator load(Reader& reader);

 private:
  struct Projection {
    std::size_t dim = 0;
    std::size_t rank = 0;
    bool identity = false;
    std::vector<T> matrix;     // P, dim x rank row-major; empty for the identity
    std::vector<double> mean;  // P^T m

    const T* project(const Items<T>& items, T* storage) const;
    const T* project_rows(const Items<T>& items, T* storage, Workspace& workspace) const;
    const T* project_sparse(const SparseRows<T>& sparse, T* storage) const;
    void save(Writer& writer) const;
    [[nodiscard]] static Projection load(Reader& reader, std::size_t rank);
  };

  explicit Estimator(EstimatorKind kind) : kind_(kind) {}
  void take_out(const Items<T>& x, const T* u, const T* v, const double* shares,
                double* scores) const;
  [[nodiscard]] static Projection make_projection(const Eigen::MatrixXd& matrix,
                                                  const Eigen::VectorXd& mean);

  EstimatorKind kind_;
  Projection x_;
  Projection y_;
  std::vector<double> w_;
  std::vector<double> q_;  // empty when all 0
  double c_ = 0;
  std::vector<double> mean_x_;  // m_x if is_exact(), else empty
};

}  // namespace phsic
