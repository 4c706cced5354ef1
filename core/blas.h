// The few BLAS and LAPACK routines we call, overloaded for float and double.
//
// BLAS matrices are row-major and dense, leading dimension = number of columns; LAPACK ones are
// Eigen's column-major matrices. OpenBLAS chooses its kernels for the machine at run time; it is
// kept single-threaded, because the threads are ours.
#pragma once

#include <Eigen/Core>
#include <cstddef>

namespace phsic::blas {

using Size = std::size_t;

// Throws an Error unless the OpenBLAS found at run time may be called by several threads at once
// and leaves all work to the thread that calls it.
void require_thread_safe();

// c (m x n) = a (m x k) * b (k x n).
void multiply(Size m, Size n, Size k, const float* a, const float* b, float* c);
void multiply(Size m, Size n, Size k, const double* a, const double* b, double* c);

// c (m x n) = a (m x k) * b^T, b being n x k.
void multiply_transposed(Size m, Size n, Size k, const float* a, const float* b, float* c);
void multiply_transposed(Size m, Size n, Size k, const double* a, const double* b, double* c);

// c (m x n) = a^T * b, a being k x m and b k x n.
void cross_product(Size m, Size n, Size k, const float* a, const float* b, float* c);
void cross_product(Size m, Size n, Size k, const double* a, const double* b, double* c);

// The upper triangle of c (n x n) = a^T * a, a being k x n; the rest of c is left alone.
void self_product(Size n, Size k, const float* a, float* c);
void self_product(Size n, Size k, const double* a, double* c);

// Cholesky: a = L L^T, L returned in the lower triangle with zeros above. False if a is not
// positive definite (a is then spoilt).
[[nodiscard]] bool cholesky(Eigen::MatrixXd& a);

// b = L^-1 b and b = L^-T b, for a lower triangular L.
void solve_lower(const Eigen::MatrixXd& l, Eigen::MatrixXd& b);
void solve_lower_transposed(const Eigen::MatrixXd& l, Eigen::MatrixXd& b);

// Replaces the columns of `a` (rows >= cols) by an orthonormal basis that spans at least them.
void orthonormalise(Eigen::MatrixXd& a);

// a = u diag(s) v^T with min(rows, cols) columns, s descending.
struct Svd {
  Eigen::MatrixXd u;
  Eigen::VectorXd s;
  Eigen::MatrixXd v;
};
[[nodiscard]] Svd thin_svd(Eigen::MatrixXd a);

// a = vectors diag(values) vectors^T for a symmetric a (lower triangle read), values ascending.
struct Eigenpairs {
  Eigen::VectorXd values;
  Eigen::MatrixXd vectors;
};
[[nodiscard]] Eigenpairs symmetric_eigen(Eigen::MatrixXd a);

}  // namespace phsic::blas
