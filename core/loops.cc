#include "core/loops.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

// Each function is compiled once per instruction set; the loader picks. The thread sanitizer cannot
// run the resolvers (they run before it is set up), so its build has the plain version only.
#if defined(__x86_64__) && !defined(PHSIC_PLAIN_LOOPS)
#define PHSIC_MULTIVERSION \
  __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#else
#define PHSIC_MULTIVERSION
#endif
// For a loop that the checks of the sanitizers make ten times as slow; it would take most of the
// time of the tests.
#if defined(__clang__) && defined(PHSIC_PLAIN_LOOPS)
#define PHSIC_UNCHECKED __attribute__((no_sanitize("address", "undefined", "coverage")))
#else
#define PHSIC_UNCHECKED
#endif
// Bodies are shared between float and double and inlined, so that each clone compiles its own.
#define PHSIC_BODY   \
  template <class T> \
  [[gnu::always_inline]] inline

namespace phsic::loops {
namespace {

// Reductions run in this many independent lanes: wide enough for AVX-512, and the order of the sum
// is the same for every instruction set.
constexpr std::size_t kLanes = 16;

PHSIC_BODY bool all_within_body(const T* x, std::size_t n, T limit) {
  unsigned bad = 0;
  for (std::size_t i = 0; i < n; ++i) bad |= static_cast<unsigned>(!(std::abs(x[i]) <= limit));
  return bad == 0;
}

PHSIC_BODY bool copy_within_body(const T* __restrict x, std::size_t n, T limit, T* __restrict out) {
  unsigned bad = 0;
  for (std::size_t i = 0; i < n; ++i) {
    bad |= static_cast<unsigned>(!(std::abs(x[i]) <= limit));
    out[i] = x[i];
  }
  return bad == 0;
}

// Adds term(i) for all i below n, in kLanes partial sums.
template <class S, class Term>
[[gnu::always_inline]] inline S sum_in_lanes(std::size_t n, Term term) {
  S lanes[kLanes] = {};
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (std::size_t k = 0; k < kLanes; ++k) lanes[k] += term(i + k);
  }
  for (std::size_t k = 0; i + k < n; ++k) lanes[k] += term(i + k);
  for (std::size_t width = kLanes / 2; width > 0; width /= 2) {
    for (std::size_t k = 0; k < width; ++k) lanes[k] += lanes[k + width];
  }
  return lanes[0];
}

PHSIC_BODY double squared_norm_body(const T* x, std::size_t n) {
  return sum_in_lanes<double>(
      n, [x](std::size_t i) { return static_cast<double>(x[i]) * static_cast<double>(x[i]); });
}

PHSIC_BODY void scale_body(const T* x, std::size_t n, T factor, T* out) {
  for (std::size_t i = 0; i < n; ++i) out[i] = factor * x[i];
}

PHSIC_BODY double shift_body(const T* __restrict x, const T* __restrict origin,
                             const T* __restrict scales, std::size_t n, T* __restrict out) {
  if (scales == nullptr) {
    return sum_in_lanes<T>(n, [=](std::size_t i) {
      out[i] = x[i] - origin[i];
      return out[i] * out[i];
    });
  }
  return sum_in_lanes<T>(n, [=](std::size_t i) {
    out[i] = (x[i] - origin[i]) * scales[i];
    return out[i] * out[i];
  });
}

PHSIC_BODY void add_multiple_body(const T* __restrict x, std::size_t n, T factor, T* __restrict y) {
  for (std::size_t i = 0; i < n; ++i) y[i] += factor * x[i];
}

PHSIC_BODY void accumulate_body(const T* __restrict x, std::size_t n, double factor,
                                double* __restrict sum) {
  for (std::size_t i = 0; i < n; ++i) sum[i] += factor * static_cast<double>(x[i]);
}

PHSIC_BODY void centre_row_body(const T* __restrict x, const T* __restrict origin, std::size_t n,
                                T root, T* __restrict out, double* __restrict sum) {
  for (std::size_t i = 0; i < n; ++i) {
    out[i] = root * (x[i] - origin[i]);
    sum[i] += static_cast<double>(root) * static_cast<double>(out[i]);
  }
}

// exp(-t) for t >= 0 in float: 2^-k times a polynomial on [-ln 2 / 2, ln 2 / 2], after Cody and
// Waite. Written so that compilers vectorise it.
[[gnu::always_inline]] inline float exp_minus(float t) {
  constexpr float kLog2E = 1.44269504F;
  constexpr float kLn2High = 0.693359375F;
  constexpr float kLn2Low = -2.12194440e-4F;
  constexpr float kRound = 12582912.0F;  // 1.5 * 2^23: adding it rounds to an integer
  const float x = -std::min(t, 87.0F);
  const float shifted = x * kLog2E + kRound;
  const float k = shifted - kRound;
  const float r = (x - k * kLn2High) - k * kLn2Low;
  float p = 1.9875691500e-4F;
  p = p * r + 1.3981999507e-3F;
  p = p * r + 8.3334519073e-3F;
  p = p * r + 4.1665795894e-2F;
  p = p * r + 1.6666665459e-1F;
  p = p * r + 5.0000001201e-1F;
  p = p * r * r + r + 1.0F;
  const std::int32_t exponent = std::bit_cast<std::int32_t>(shifted) << 23;
  return std::bit_cast<float>(std::bit_cast<std::int32_t>(p) + exponent);
}

[[gnu::always_inline]] inline double exp_minus(double t) { return std::exp(-t); }

PHSIC_BODY void gaussian_from_dots_body(T* __restrict values, const T* __restrict norms,
                                        std::size_t n, T norm, T factor) {
  for (std::size_t j = 0; j < n; ++j) {
    const T squared = norm + norms[j] - 2 * values[j];
    values[j] = exp_minus(factor * (squared > 0 ? squared : T(0)));
  }
}

PHSIC_BODY void exp_negative_body(T* values, std::size_t n, T factor) {
  for (std::size_t j = 0; j < n; ++j) values[j] = exp_minus(factor * values[j]);
}

PHSIC_BODY T squared_distance_body(const T* x, const T* y, std::size_t n) {
  return sum_in_lanes<T>(n, [=](std::size_t i) { return (x[i] - y[i]) * (x[i] - y[i]); });
}

PHSIC_BODY double centred_norm_body(const T* x, const double* mean, std::size_t n) {
  return sum_in_lanes<double>(n, [=](std::size_t i) {
    const double a = static_cast<double>(x[i]) - mean[i];
    return a * a;
  });
}

PHSIC_BODY T manhattan_body(const T* x, const T* y, std::size_t n) {
  return sum_in_lanes<T>(n, [=](std::size_t i) { return std::abs(x[i] - y[i]); });
}

PHSIC_BODY void manhattan_column_body(const T* __restrict column, std::size_t n, T value,
                                      T* __restrict out) {
  for (std::size_t j = 0; j < n; ++j) out[j] += std::abs(value - column[j]) - std::abs(column[j]);
}

PHSIC_BODY double bilinear_body(const T* u, const double* u0, const T* v, const double* v0,
                                const double* w, std::size_t n) {
  return sum_in_lanes<double>(n, [=](std::size_t i) {
    return w[i] * (static_cast<double>(u[i]) - u0[i]) * (static_cast<double>(v[i]) - v0[i]);
  });
}

PHSIC_BODY double quadratic_body(const T* u, const double* u0, const T* v, const double* v0,
                                 const double* q, std::size_t n) {
  return sum_in_lanes<double>(n, [=](std::size_t i) {
    const double a = static_cast<double>(u[i]) - u0[i];
    const double b = static_cast<double>(v[i]) - v0[i];
    return q[i] * (a * a + b * b);
  });
}

}  // namespace

// One pair of overloads each, so that both scalars are cloned.
#define PHSIC_OVERLOADS(result, name, parameters_float, parameters_double, arguments)      \
  PHSIC_MULTIVERSION result name parameters_float { return name##_body<float> arguments; } \
  PHSIC_MULTIVERSION result name parameters_double { return name##_body<double> arguments; }

PHSIC_OVERLOADS(bool, all_within, (const float* x, std::size_t n, float limit),
                (const double* x, std::size_t n, double limit), (x, n, limit))
PHSIC_OVERLOADS(bool, copy_within, (const float* x, std::size_t n, float limit, float* out),
                (const double* x, std::size_t n, double limit, double* out), (x, n, limit, out))
PHSIC_OVERLOADS(double, squared_norm, (const float* x, std::size_t n),
                (const double* x, std::size_t n), (x, n))
PHSIC_OVERLOADS(void, scale, (const float* x, std::size_t n, float factor, float* out),
                (const double* x, std::size_t n, double factor, double* out), (x, n, factor, out))
PHSIC_OVERLOADS(double, shift,
                (const float* x, const float* origin, const float* scales, std::size_t n,
                 float* out),
                (const double* x, const double* origin, const double* scales, std::size_t n,
                 double* out),
                (x, origin, scales, n, out))
PHSIC_OVERLOADS(void, add_multiple, (const float* x, std::size_t n, float factor, float* y),
                (const double* x, std::size_t n, double factor, double* y), (x, n, factor, y))
PHSIC_OVERLOADS(void, accumulate, (const float* x, std::size_t n, double factor, double* sum),
                (const double* x, std::size_t n, double factor, double* sum), (x, n, factor, sum))
PHSIC_OVERLOADS(void, centre_row,
                (const float* x, const float* origin, std::size_t n, float root, float* out,
                 double* sum),
                (const double* x, const double* origin, std::size_t n, double root, double* out,
                 double* sum),
                (x, origin, n, root, out, sum))
PHSIC_OVERLOADS(void, gaussian_from_dots,
                (float* values, const float* norms, std::size_t n, float norm, float factor),
                (double* values, const double* norms, std::size_t n, double norm, double factor),
                (values, norms, n, norm, factor))
PHSIC_OVERLOADS(void, exp_negative, (float* values, std::size_t n, float factor),
                (double* values, std::size_t n, double factor), (values, n, factor))
PHSIC_OVERLOADS(void, manhattan_column,
                (const float* column, std::size_t n, float value, float* out),
                (const double* column, std::size_t n, double value, double* out),
                (column, n, value, out))
PHSIC_OVERLOADS(double, centred_norm, (const float* x, const double* mean, std::size_t n),
                (const double* x, const double* mean, std::size_t n), (x, mean, n))
PHSIC_OVERLOADS(double, bilinear,
                (const float* u, const double* u0, const float* v, const double* v0,
                 const double* w, std::size_t n),
                (const double* u, const double* u0, const double* v, const double* v0,
                 const double* w, std::size_t n),
                (u, u0, v, v0, w, n))
PHSIC_OVERLOADS(double, quadratic,
                (const float* u, const double* u0, const float* v, const double* v0,
                 const double* q, std::size_t n),
                (const double* u, const double* u0, const double* v, const double* v0,
                 const double* q, std::size_t n),
                (u, u0, v, v0, q, n))

PHSIC_MULTIVERSION float squared_distance(const float* x, const float* y, std::size_t n) {
  return squared_distance_body<float>(x, y, n);
}
PHSIC_MULTIVERSION double squared_distance(const double* x, const double* y, std::size_t n) {
  return squared_distance_body<double>(x, y, n);
}

PHSIC_MULTIVERSION float manhattan(const float* x, const float* y, std::size_t n) {
  return manhattan_body<float>(x, y, n);
}
PHSIC_MULTIVERSION double manhattan(const double* x, const double* y, std::size_t n) {
  return manhattan_body<double>(x, y, n);
}

// Several sums in one pass, each in lanes of its own, in float: the judge's components need no
// more.
PHSIC_MULTIVERSION PHSIC_UNCHECKED SideSums side_sums(const float* x, const float* q,
                                                      const float* rho, std::size_t n) {
  float squared[kLanes] = {};
  float by_q[kLanes] = {};
  float by_rho[kLanes] = {};
  float by_rho_squared[kLanes] = {};
  float absolute[kLanes] = {};
  std::size_t i = 0;
  const auto add = [&](std::size_t k, std::size_t at) __attribute__((always_inline)) {
    const float value = x[at];
    const float square = value * value;
    squared[k] += square;
    by_q[k] += q[at] * square;
    by_rho[k] += rho[at] * square;
    by_rho_squared[k] += rho[at] * rho[at] * square;
    absolute[k] += rho[at] * std::abs(value);
  };
  for (; i + kLanes <= n; i += kLanes) {
    for (std::size_t k = 0; k < kLanes; ++k) add(k, i + k);
  }
  for (std::size_t k = 0; i + k < n; ++k) add(k, i + k);
  SideSums sums;
  for (std::size_t k = 0; k < kLanes; ++k) {
    sums.squared += static_cast<double>(squared[k]);
    sums.by_q += static_cast<double>(by_q[k]);
    sums.by_rho += static_cast<double>(by_rho[k]);
    sums.by_rho_squared += static_cast<double>(by_rho_squared[k]);
    sums.rho_absolute += static_cast<double>(absolute[k]);
  }
  return sums;
}

PHSIC_MULTIVERSION PHSIC_UNCHECKED TwoProducts two_products(const float* x, const float* y,
                                                            const float* w, const float* rho,
                                                            std::size_t n) {
  float by_w[kLanes] = {};
  float by_rho[kLanes] = {};
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (std::size_t k = 0; k < kLanes; ++k) {
      const float product = x[i + k] * y[i + k];
      by_w[k] += w[i + k] * product;
      by_rho[k] += rho[i + k] * product;
    }
  }
  for (std::size_t k = 0; i + k < n; ++k) {
    const float product = x[i + k] * y[i + k];
    by_w[k] += w[i + k] * product;
    by_rho[k] += rho[i + k] * product;
  }
  TwoProducts sums;
  for (std::size_t k = 0; k < kLanes; ++k) {
    sums.by_w += static_cast<double>(by_w[k]);
    sums.by_rho += static_cast<double>(by_rho[k]);
  }
  return sums;
}

// Not through a lambda, whose call would be checked.
PHSIC_MULTIVERSION PHSIC_UNCHECKED double gathered_dot(const double* x, const double* y,
                                                       const std::uint32_t* order, std::size_t n) {
  double lanes[kLanes] = {};
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (std::size_t k = 0; k < kLanes; ++k) lanes[k] += x[i + k] * y[order[i + k]];
  }
  for (; i < n; ++i) lanes[0] += x[i] * y[order[i]];
  double sum = 0;
  for (const double lane : lanes) sum += lane;
  return sum;
}

}  // namespace phsic::loops
