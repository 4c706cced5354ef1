// The inner loops that are not matrix products, compiled for several instruction sets at once and
// chosen when the program is loaded: plain x86-64, AVX2 + FMA, AVX-512.
//
// All work on plain arrays owned by the caller, allocate nothing and may be called from any thread.
// Overloaded for float and double.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

namespace phsic::loops {

// Whether every |x[i]| is at most `limit`; false if any is NaN.
[[nodiscard]] bool all_within(const float* x, std::size_t n, float limit);
[[nodiscard]] bool all_within(const double* x, std::size_t n, double limit);

// out = x. Returns whether every |x[i]| is at most `limit`.
[[nodiscard]] bool copy_within(const float* x, std::size_t n, float limit, float* out);
[[nodiscard]] bool copy_within(const double* x, std::size_t n, double limit, double* out);

// Sum of squares, summed in double.
[[nodiscard]] double squared_norm(const float* x, std::size_t n);
[[nodiscard]] double squared_norm(const double* x, std::size_t n);

// 1 / length of a vector of this squared length; 0 for vectors shorter than 1e-30, which count as
// zero: their unit vectors would be noise, and 1 / length no float.
[[nodiscard]] inline double inverse_length(double squared) {
  constexpr double kShortest = 1e-60;
  return squared > kShortest ? 1 / std::sqrt(squared) : 0;
}

// out = factor * x.
void scale(const float* x, std::size_t n, float factor, float* out);
void scale(const double* x, std::size_t n, double factor, double* out);

// out = x - origin, elementwise times `scales` when that is not null; returns |out|^2.
double shift(const float* x, const float* origin, const float* scales, std::size_t n, float* out);
double shift(const double* x, const double* origin, const double* scales, std::size_t n,
             double* out);

// y += factor * x.
void add_multiple(const float* x, std::size_t n, float factor, float* y);
void add_multiple(const double* x, std::size_t n, double factor, double* y);

// sum += factor * x, where only x may be float.
void accumulate(const float* x, std::size_t n, double factor, double* sum);
void accumulate(const double* x, std::size_t n, double factor, double* sum);

// out = root * (x - origin) and sum += root * out: one row of a weighted block, root^2 its weight.
void centre_row(const float* x, const float* origin, std::size_t n, float root, float* out,
                double* sum);
void centre_row(const double* x, const double* origin, std::size_t n, double root, double* out,
                double* sum);

// values[j] = exp(-factor * max(0, norm + norms[j] - 2 values[j])): dot products to Gaussian kernel
// values. Relative error below 3e-7 in float; the library's exp in double.
void gaussian_from_dots(float* values, const float* norms, std::size_t n, float norm, float factor);
void gaussian_from_dots(double* values, const double* norms, std::size_t n, double norm,
                        double factor);

// values[j] = exp(-factor * values[j]).
void exp_negative(float* values, std::size_t n, float factor);
void exp_negative(double* values, std::size_t n, double factor);

// Sum of (x[i] - y[i])^2.
[[nodiscard]] float squared_distance(const float* x, const float* y, std::size_t n);
[[nodiscard]] double squared_distance(const double* x, const double* y, std::size_t n);

// Sum of (x[i] - mean[i])^2, in double.
[[nodiscard]] double centred_norm(const float* x, const double* mean, std::size_t n);
[[nodiscard]] double centred_norm(const double* x, const double* mean, std::size_t n);

// Sum of |x[i] - y[i]|.
[[nodiscard]] float manhattan(const float* x, const float* y, std::size_t n);
[[nodiscard]] double manhattan(const double* x, const double* y, std::size_t n);

// out[j] += |value - column[j]| - |column[j]|: one non-zero of a sparse item against a column.
void manhattan_column(const float* column, std::size_t n, float value, float* out);
void manhattan_column(const double* column, std::size_t n, double value, double* out);

// Sum of x[i] y[order[i]]. REQUIRES: indices within y, which no sanitizer checks.
[[nodiscard]] double gathered_dot(const double* x, const double* y, const std::uint32_t* order,
                                  std::size_t n);

// sum w[i] (u[i] - u0[i]) (v[i] - v0[i]), in double.
[[nodiscard]] double bilinear(const float* u, const double* u0, const float* v, const double* v0,
                              const double* w, std::size_t n);
[[nodiscard]] double bilinear(const double* u, const double* u0, const double* v, const double* v0,
                              const double* w, std::size_t n);

// sum q[i] ((u[i] - u0[i])^2 + (v[i] - v0[i])^2), in double.
[[nodiscard]] double quadratic(const float* u, const double* u0, const float* v, const double* v0,
                               const double* q, std::size_t n);
[[nodiscard]] double quadratic(const double* u, const double* u0, const double* v, const double* v0,
                               const double* q, std::size_t n);

// Sums over the coordinates of one side.
struct SideSums {
  double squared = 0;         // sum x^2
  double by_q = 0;            // sum q x^2
  double by_rho = 0;          // sum rho x^2
  double by_rho_squared = 0;  // sum rho^2 x^2
  double rho_absolute = 0;    // sum rho |x|
};
[[nodiscard]] SideSums side_sums(const float* x, const float* q, const float* rho, std::size_t n);

// sum w x y and sum rho x y.
struct TwoProducts {
  double by_w = 0;
  double by_rho = 0;
};
[[nodiscard]] TwoProducts two_products(const float* x, const float* y, const float* w,
                                       const float* rho, std::size_t n);

}  // namespace phsic::loops
