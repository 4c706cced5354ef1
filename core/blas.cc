#include "core/blas.h"

#include <cblas.h>
#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "core/error.h"

// Fortran LAPACK, as contained in OpenBLAS.
extern "C" {
void dpotrf_(const char* uplo, const int* n, double* a, const int* lda, int* info);
void dgeqrf_(const int* m, const int* n, double* a, const int* lda, double* tau, double* work,
             const int* lwork, int* info);
void dorgqr_(const int* m, const int* n, const int* k, double* a, const int* lda, const double* tau,
             double* work, const int* lwork, int* info);
void dgesdd_(const char* jobz, const int* m, const int* n, double* a, const int* lda, double* s,
             double* u, const int* ldu, double* vt, const int* ldvt, double* work, const int* lwork,
             int* iwork, int* info);
void dsyevd_(const char* jobz, const char* uplo, const int* n, double* a, const int* lda, double* w,
             double* work, const int* lwork, int* iwork, const int* liwork, int* info);
// OpenBLAS's own, in no header. The serial flavour does not have it, and must be told from the
// right one at the start.
// NOLINTNEXTLINE(readability-identifier-naming): its name there
[[gnu::weak]] int blas_thread_shutdown_();
}

namespace phsic::blas {
namespace {

// The threads are ours: BLAS runs in the thread that calls it. OpenBLAS has started a thread for
// every further processor when it was loaded: they would wait for work, busily at first, and are
// ended. One thread is set before, since setting it later would start them again.
[[maybe_unused]] const bool kSingleThreaded = [] {
  openblas_set_num_threads(1);
  if (openblas_get_parallel() == OPENBLAS_THREAD && blas_thread_shutdown_ != nullptr) {
    blas_thread_shutdown_();
  }
  return true;
}();

int as_int(Size size) { return static_cast<int>(size); }
int as_int(Eigen::Index size) { return static_cast<int>(size); }

void require(int info, std::string_view routine) {
  if (info != 0) throw Error(fmt::format("{} did not converge: info = {}", routine, info));
}

// Products with an empty side are not for BLAS, which would complain or leave c as it was.
template <class T>
bool fill_if_empty(Size m, Size n, Size k, T* c) {
  if (m > 0 && n > 0 && k > 0) return false;
  std::fill_n(c, m * n, T(0));
  return true;
}

}  // namespace

void require_thread_safe() {
  if (openblas_get_parallel() == OPENBLAS_THREAD) return;
  throw Error(
      fmt::format("OpenBLAS: found its {} flavour, expected the one for threads, with which "
                  "several threads get "
                  "right results; install libopenblas0-pthread, or choose it with "
                  "`update-alternatives --config "
                  "libopenblas.so.0-x86_64-linux-gnu`",
                  openblas_get_parallel() == OPENBLAS_SEQUENTIAL ? "serial" : "OpenMP"));
}

void multiply(Size m, Size n, Size k, const float* a, const float* b, float* c) {
  if (fill_if_empty(m, n, k, c)) return;
  if (m == 1) {
    cblas_sgemv(CblasRowMajor, CblasTrans, as_int(k), as_int(n), 1, b, as_int(n), a, 1, 0, c, 1);
    return;
  }
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, as_int(m), as_int(n), as_int(k), 1, a,
              as_int(k), b, as_int(n), 0, c, as_int(n));
}

void multiply(Size m, Size n, Size k, const double* a, const double* b, double* c) {
  if (fill_if_empty(m, n, k, c)) return;
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, as_int(m), as_int(n), as_int(k), 1, a,
              as_int(k), b, as_int(n), 0, c, as_int(n));
}

void multiply_transposed(Size m, Size n, Size k, const float* a, const float* b, float* c) {
  if (fill_if_empty(m, n, k, c)) return;
  if (m == 1) {
    cblas_sgemv(CblasRowMajor, CblasNoTrans, as_int(n), as_int(k), 1, b, as_int(k), a, 1, 0, c, 1);
    return;
  }
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, as_int(m), as_int(n), as_int(k), 1, a,
              as_int(k), b, as_int(k), 0, c, as_int(n));
}

void multiply_transposed(Size m, Size n, Size k, const double* a, const double* b, double* c) {
  if (fill_if_empty(m, n, k, c)) return;
  if (m == 1) {
    cblas_dgemv(CblasRowMajor, CblasNoTrans, as_int(n), as_int(k), 1, b, as_int(k), a, 1, 0, c, 1);
    return;
  }
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, as_int(m), as_int(n), as_int(k), 1, a,
              as_int(k), b, as_int(k), 0, c, as_int(n));
}

void cross_product(Size m, Size n, Size k, const float* a, const float* b, float* c) {
  if (fill_if_empty(m, n, k, c)) return;
  cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, as_int(m), as_int(n), as_int(k), 1, a,
              as_int(m), b, as_int(n), 0, c, as_int(n));
}

void cross_product(Size m, Size n, Size k, const double* a, const double* b, double* c) {
  if (fill_if_empty(m, n, k, c)) return;
  cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, as_int(m), as_int(n), as_int(k), 1, a,
              as_int(m), b, as_int(n), 0, c, as_int(n));
}

void self_product(Size n, Size k, const float* a, float* c) {
  if (fill_if_empty(n, n, k, c)) return;
  cblas_ssyrk(CblasRowMajor, CblasUpper, CblasTrans, as_int(n), as_int(k), 1, a, as_int(n), 0, c,
              as_int(n));
}

void self_product(Size n, Size k, const double* a, double* c) {
  if (fill_if_empty(n, n, k, c)) return;
  cblas_dsyrk(CblasRowMajor, CblasUpper, CblasTrans, as_int(n), as_int(k), 1, a, as_int(n), 0, c,
              as_int(n));
}

bool cholesky(Eigen::MatrixXd& a) {
  const int n = as_int(a.rows());
  if (n == 0) return true;
  int info = 0;
  dpotrf_("L", &n, a.data(), &n, &info);
  if (info != 0) return false;
  a.triangularView<Eigen::StrictlyUpper>().setZero();
  return true;
}

void solve_lower(const Eigen::MatrixXd& l, Eigen::MatrixXd& b) {
  if (b.size() == 0) return;
  cblas_dtrsm(CblasColMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, as_int(b.rows()),
              as_int(b.cols()), 1, l.data(), as_int(l.rows()), b.data(), as_int(b.rows()));
}

void solve_lower_transposed(const Eigen::MatrixXd& l, Eigen::MatrixXd& b) {
  if (b.size() == 0) return;
  cblas_dtrsm(CblasColMajor, CblasLeft, CblasLower, CblasTrans, CblasNonUnit, as_int(b.rows()),
              as_int(b.cols()), 1, l.data(), as_int(l.rows()), b.data(), as_int(b.rows()));
}

void orthonormalise(Eigen::MatrixXd& a) {
  const int m = as_int(a.rows());
  const int n = as_int(a.cols());
  if (n == 0) return;
  const int work_size = 64 * std::max(m, n);
  std::vector<double> tau(static_cast<Size>(n));
  std::vector<double> work(static_cast<Size>(work_size));
  int info = 0;
  dgeqrf_(&m, &n, a.data(), &m, tau.data(), work.data(), &work_size, &info);
  require(info, "dgeqrf");
  dorgqr_(&m, &n, &n, a.data(), &m, tau.data(), work.data(), &work_size, &info);
  require(info, "dorgqr");
}

Svd thin_svd(Eigen::MatrixXd a) {
  const int m = as_int(a.rows());
  const int n = as_int(a.cols());
  const int k = std::min(m, n);
  Svd result{Eigen::MatrixXd(m, k), Eigen::VectorXd(k), Eigen::MatrixXd(n, k)};
  if (k == 0) return result;
  Eigen::MatrixXd vt(k, n);
  std::vector<int> iwork(8 * static_cast<Size>(k));
  double best = 0;
  int work_size = -1;
  int info = 0;
  dgesdd_("S", &m, &n, a.data(), &m, result.s.data(), result.u.data(), &m, vt.data(), &k, &best,
          &work_size, iwork.data(), &info);
  work_size = static_cast<int>(best);
  std::vector<double> work(static_cast<Size>(work_size));
  dgesdd_("S", &m, &n, a.data(), &m, result.s.data(), result.u.data(), &m, vt.data(), &k,
          work.data(), &work_size, iwork.data(), &info);
  require(info, "dgesdd");
  result.v = vt.transpose();
  return result;
}

Eigenpairs symmetric_eigen(Eigen::MatrixXd a) {
  const int n = as_int(a.rows());
  Eigenpairs result{Eigen::VectorXd(n), std::move(a)};
  if (n == 0) return result;
  double best = 0;
  int best_int = 0;
  int work_size = -1;
  int iwork_size = -1;
  int info = 0;
  dsyevd_("V", "L", &n, result.vectors.data(), &n, result.values.data(), &best, &work_size,
          &best_int, &iwork_size, &info);
  work_size = static_cast<int>(best);
  iwork_size = best_int;
  std::vector<double> work(static_cast<Size>(work_size));
  std::vector<int> iwork(static_cast<Size>(iwork_size));
  dsyevd_("V", "L", &n, result.vectors.data(), &n, result.values.data(), work.data(), &work_size,
          iwork.data(), &iwork_size, &info);
  require(info, "dsyevd");
  return result;
}

}  // namespace phsic::blas
