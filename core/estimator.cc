#include "core/estimator.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/blas.h"
#include "core/loops.h"
#include "core/own_share.h"
#include "core/row_product.h"
#include "core/svd.h"

namespace phsic {
namespace {

// Batches are scored in chunks of this many rows, so that scratch does not grow with the batch.
constexpr std::size_t kProjectedRows = 256;

// L of c + ridge tr(c)/d I; empty if there is none. REQUIRES: a positive trace.
Eigen::MatrixXd ridge_factor(const Eigen::MatrixXd& c, double ridge) {
  const auto d = static_cast<double>(c.rows());
  const double average = c.trace() / d;
  // Rounding may leave an eigenvalue slightly below zero, which a small ridge does not lift: raise
  // the ridge until the matrix is positive definite.
  for (double lift = ridge; lift < 1e3 * std::max(ridge, 1.0); lift = std::max(lift * 10, 1e-12)) {
    Eigen::MatrixXd factor = c;
    factor.diagonal().array() += lift * average;
    if (blas::cholesky(factor)) return factor;
  }
  return {};
}

// |row i - mean|^2, where mean_norm = |mean|^2.
template <class T>
double centred_norm(const Items<T>& items, std::size_t i, const std::vector<double>& mean,
                    double mean_norm) {
  if (const auto* dense = std::get_if<DenseRows<T>>(&items)) {
    return loops::centred_norm(dense->row(i), mean.data(), mean.size());
  }
  const auto& sparse = std::get<SparseRows<T>>(items);
  double sum = mean_norm;
  for (std::size_t e = sparse.start[i]; e < sparse.start[i + 1]; ++e) {
    const auto value = static_cast<double>(sparse.value[e]);
    sum += value * (value - 2 * mean[sparse.index[e]]);
  }
  return std::max(sum, 0.0);
}

}  // namespace

std::string_view name_of(EstimatorKind kind) {
  constexpr std::array<std::string_view, 3> kNames = {"phsic", "whitened", "gaussian-pmi"};
  return kNames[static_cast<std::size_t>(kind)];
}

CanonicalBasis canonical_basis(const Covariance& covariance, double ridge, std::size_t rank,
                               std::uint64_t seed) {
  if (!std::isfinite(ridge) || ridge <= 0) {
    throw Error(fmt::format("ridge: found {}, expected a positive number", ridge));
  }
  CanonicalBasis basis{Eigen::MatrixXd(covariance.xy.rows(), 0),
                       Eigen::MatrixXd(covariance.xy.cols(), 0), Eigen::VectorXd(0)};
  if (covariance.xy.size() == 0) return basis;
  if (!covariance.has_both()) {
    throw Error("found cross-covariances only, expected the covariances of both sides as well");
  }
  if (!covariance.has_variance()) return basis;
  const Eigen::MatrixXd factor_x = ridge_factor(covariance.xx, ridge);
  const Eigen::MatrixXd factor_y = ridge_factor(covariance.yy, ridge);
  if (factor_x.size() == 0 || factor_y.size() == 0) return basis;

  // L_x^-1 C_xy L_y^-T, by two triangular solves.
  Eigen::MatrixXd half = covariance.xy;
  blas::solve_lower(factor_x, half);
  Eigen::MatrixXd coherence_t = half.transpose();
  blas::solve_lower(factor_y, coherence_t);
  blas::Svd svd = truncated_svd(coherence_t, rank, seed);
  blas::solve_lower_transposed(factor_x, svd.v);
  blas::solve_lower_transposed(factor_y, svd.u);
  basis.x = std::move(svd.v);
  basis.y = std::move(svd.u);
  basis.rho = svd.s.cwiseMin(kMaxCorrelation);
  return basis;
}

template <class T>
typename Estimator<T>::Projection Estimator<T>::make_projection(const Eigen::MatrixXd& matrix,
                                                                const Eigen::VectorXd& mean) {
  Projection projection;
  projection.dim = static_cast<std::size_t>(matrix.rows());
  projection.rank = static_cast<std::size_t>(matrix.cols());
  projection.matrix.resize(projection.dim * projection.rank);
  projection.mean.assign(projection.rank, 0);
  if (matrix.size() == 0) return projection;
  Eigen::Map<Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(
      projection.matrix.data(), matrix.rows(), matrix.cols()) = matrix.cast<T>();
  const Eigen::VectorXd projected = matrix.transpose() * mean;
  projection.mean.assign(projected.data(), projected.data() + projected.size());
  return projection;
}

template <class T>
Estimator<T> Estimator<T>::phsic(const Covariance& covariance, std::size_t rank, bool centered,
                                 std::uint64_t seed) {
  Estimator estimator(EstimatorKind::kPhsic);
  Eigen::MatrixXd cross = covariance.xy;
  Eigen::VectorXd mean_x = covariance.mean_x;
  Eigen::VectorXd mean_y = covariance.mean_y;
  if (!centered) {
    cross += mean_x * mean_y.transpose();
    mean_x.setZero();
    mean_y.setZero();
  }
  if (rank == 0) {
    estimator.x_ = make_projection(cross, mean_x);
    estimator.y_.dim = estimator.y_.rank = estimator.x_.rank;
    estimator.y_.identity = true;
    estimator.y_.mean.assign(mean_y.data(), mean_y.data() + mean_y.size());
    estimator.w_.assign(estimator.x_.rank, 1);
    estimator.mean_x_.assign(mean_x.data(), mean_x.data() + mean_x.size());
    return estimator;
  }
  const blas::Svd svd = truncated_svd(cross, rank, seed);
  estimator.x_ = make_projection(svd.u, mean_x);
  estimator.y_ = make_projection(svd.v, mean_y);
  estimator.w_.assign(svd.s.data(), svd.s.data() + svd.s.size());
  return estimator;
}

template <class T>
Estimator<T> Estimator<T>::whitened(const Covariance& covariance, const CanonicalBasis& basis) {
  Estimator estimator(EstimatorKind::kWhitened);
  estimator.x_ = make_projection(basis.x, covariance.mean_x);
  estimator.y_ = make_projection(basis.y, covariance.mean_y);
  estimator.w_.assign(basis.rho.data(), basis.rho.data() + basis.rho.size());
  return estimator;
}

template <class T>
Estimator<T> Estimator<T>::gaussian_pmi(const Covariance& covariance, const CanonicalBasis& basis) {
  Estimator estimator = whitened(covariance, basis);
  estimator.kind_ = EstimatorKind::kGaussianPmi;
  for (double& w : estimator.w_) {
    const double rest = (1 - w) * (1 + w);
    estimator.c_ -= 0.5 * std::log(rest);
    estimator.q_.push_back(w * w / rest);
    w /= rest;
  }
  return estimator;
}

template <class T>
const T* Estimator<T>::Projection::project(const Items<T>& items, T* storage) const {
  if (const auto* dense = std::get_if<DenseRows<T>>(&items)) {
    if (identity) return dense->data;
    blas::multiply(dense->rows, rank, dim, dense->data, matrix.data(), storage);
    return storage;
  }
  return project_sparse(std::get<SparseRows<T>>(items), storage);
}

// The same, but the bits of a row depend on that row alone.
template <class T>
const T* Estimator<T>::Projection::project_rows(const Items<T>& items, T* storage,
                                                Workspace& workspace) const {
  if (const auto* dense = std::get_if<DenseRows<T>>(&items)) {
    if (identity) return dense->data;
    multiply_rows(dense->rows, rank, dim, dense->data, matrix.data(), storage, workspace);
    return storage;
  }
  return project_sparse(std::get<SparseRows<T>>(items), storage);
}

template <class T>
const T* Estimator<T>::Projection::project_sparse(const SparseRows<T>& sparse, T* storage) const {
  std::fill_n(storage, sparse.rows * rank, T(0));
  for (std::size_t i = 0; i < sparse.rows; ++i) {
    T* out = storage + i * rank;
    for (std::size_t e = sparse.start[i]; e < sparse.start[i + 1]; ++e) {
      if (identity) {
        out[sparse.index[e]] = sparse.value[e];
      } else {
        loops::add_multiple(matrix.data() + sparse.index[e] * rank, rank, sparse.value[e], out);
      }
    }
  }
  return storage;
}

template <class T>
double Estimator<T>::combine(const T* u, const T* v) const {
  const std::size_t r = w_.size();
  double score = c_ + loops::bilinear(u, x_.mean.data(), v, y_.mean.data(), w_.data(), r);
  if (!q_.empty()) {
    score -= 0.5 * loops::quadratic(u, x_.mean.data(), v, y_.mean.data(), q_.data(), r);
  }
  return score;
}

template <class T>
bool Estimator<T>::is_centered() const {
  const auto any = [](const std::vector<double>& mean) {
    return std::any_of(mean.begin(), mean.end(), [](double m) { return m != 0; });
  };
  return any(is_exact() ? mean_x_ : x_.mean) || any(y_.mean);
}

// Takes its own share out of the score of each row, whose coordinates are u and v.
template <class T>
void Estimator<T>::take_out(const Items<T>& x, const T* u, const T* v, const double* shares,
                            double* scores) const {
  const std::size_t r = rank();
  const bool centered = is_centered();
  const double mean_norm = is_exact() ? loops::squared_norm(mean_x_.data(), mean_x_.size()) : 0;
  for (std::size_t i = 0; i < row_count(x); ++i) {
    if (shares[i] == 0) continue;
    OwnPart own;
    own.share = shares[i];
    own.squared_x = is_exact() ? centred_norm(x, i, mean_x_, mean_norm)
                               : loops::centred_norm(u + i * r, x_.mean.data(), r);
    own.squared_y = loops::centred_norm(v + i * r, y_.mean.data(), r);
    scores[i] = without_own_part(kind_, centered, c_, scores[i], own);
  }
}

template <class T>
void Estimator<T>::score(const Items<T>& x, const Items<T>& y, double* scores, Workspace& workspace,
                         const double* own_shares, PairCoordinates<T>* kept,
                         std::size_t first_kept) const {
  const std::size_t rows = row_count(x);
  const std::size_t r = rank();
  Workspace::Buffer<T> storage_u(workspace, std::min(rows, kProjectedRows) * r);
  Workspace::Buffer<T> storage_v(workspace, std::min(rows, kProjectedRows) * r);
  for (std::size_t first = 0; first < rows; first += kProjectedRows) {
    const std::size_t count = std::min(kProjectedRows, rows - first);
    const T* u = x_.project_rows(slice(x, first, count), storage_u.data(), workspace);
    const T* v = y_.project_rows(slice(y, first, count), storage_v.data(), workspace);
    if (kept != nullptr) {
      std::copy_n(u, count * r, kept->u.data() + (first_kept + first) * r);
      std::copy_n(v, count * r, kept->v.data() + (first_kept + first) * r);
    }
    for (std::size_t i = 0; i < count; ++i) scores[first + i] = combine(u + i * r, v + i * r);
    if (own_shares != nullptr) {
      take_out(slice(x, first, count), u, v, own_shares + first, scores + first);
    }
  }
}

template <class T>
void Estimator<T>::score_one_to_many(const Items<T>& x, const Items<T>& y, double* scores,
                                     Workspace& workspace) const {
  const std::size_t rows = row_count(y);
  const std::size_t r = rank();
  Workspace::Buffer<T> storage_u(workspace, r);
  Workspace::Buffer<T> storage_v(workspace, std::min(rows, kProjectedRows) * r);
  const T* u = x_.project_rows(x, storage_u.data(), workspace);
  for (std::size_t first = 0; first < rows; first += kProjectedRows) {
    const std::size_t count = std::min(kProjectedRows, rows - first);
    const T* v = y_.project_rows(slice(y, first, count), storage_v.data(), workspace);
    for (std::size_t j = 0; j < count; ++j) scores[first + j] = combine(u, v + j * r);
  }
}

template <class T>
void Estimator<T>::Projection::save(Writer& writer) const {
  writer.number<std::uint64_t>(dim);
  writer.number<std::uint8_t>(identity);
  writer.array(matrix);
  writer.array(mean);
}

template <class T>
typename Estimator<T>::Projection Estimator<T>::Projection::load(Reader& reader, std::size_t rank) {
  Projection projection;
  projection.dim = reader.number_in<std::uint64_t>("projection dimension", 0, kMaxDimension);
  projection.rank = rank;
  projection.identity = reader.flag("projection identity");
  if (projection.identity && projection.dim != rank) {
    reader.refuse("projection",
                  fmt::format("found an identity of {}, expected {}", projection.dim, rank));
  }
  projection.matrix =
      reader.finite_array<T>("projection matrix", projection.identity ? 0 : projection.dim * rank);
  projection.mean = reader.finite_array<double>("projection mean", rank);
  return projection;
}

template <class T>
void Estimator<T>::save(Writer& writer) const {
  writer.number(kind_);
  writer.array(w_);
  writer.array(q_);
  writer.number(c_);
  x_.save(writer);
  y_.save(writer);
  writer.array(mean_x_);
}

template <class T>
Estimator<T> Estimator<T>::load(Reader& reader) {
  Estimator estimator(reader.enumerator("estimator kind", EstimatorKind::kGaussianPmi));
  estimator.w_ = reader.finite_array<double>("estimator w");
  const std::size_t rank = estimator.w_.size();
  if (rank > kMaxDimension) {
    reader.refuse("estimator rank",
                  fmt::format("found {}, expected up to {}", rank, kMaxDimension));
  }
  const bool quadratic = estimator.kind_ == EstimatorKind::kGaussianPmi;
  estimator.q_ = reader.finite_array<double>("estimator q", quadratic ? rank : 0);
  estimator.c_ = reader.finite("estimator c");
  estimator.x_ = Projection::load(reader, rank);
  estimator.y_ = Projection::load(reader, rank);
  if (estimator.x_.identity ||
      (estimator.y_.identity && estimator.kind_ != EstimatorKind::kPhsic)) {
    reader.refuse("projection", "found an identity, expected one for the y of phsic only");
  }
  estimator.mean_x_ =
      reader.finite_array<double>("mean of x", estimator.is_exact() ? estimator.dim_x() : 0);
  return estimator;
}

template class Estimator<float>;
template class Estimator<double>;

}  // namespace phsic
