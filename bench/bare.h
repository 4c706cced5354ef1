// The bare operations that ours are measured against: OpenBLAS called directly, single precision
// unless named otherwise, beta = 1, on operands that stay in the cache from call to call.
#pragma once

#include <cstddef>
#include <vector>

#include "bench/race.h"

namespace phsic::bench {

enum class Transposed { kNo, kYes };

// c (m x n) += a b, a being m x k, or k x m and transposed.
class BareGemm {
 public:
  BareGemm(std::size_t m, std::size_t n, std::size_t k, Transposed a = Transposed::kNo);
  void operator()();

 private:
  int m_, n_, k_;
  Transposed transposed_;
  std::vector<float> a_, b_, c_;
};

// The upper triangle of c (n x n) += a^T a, a being k x n.
class BareSyrk {
 public:
  BareSyrk(std::size_t n, std::size_t k);
  void operator()();

 private:
  int n_, k_;
  std::vector<float> a_, c_;
};

// y += A x or A^T x, A being n x n.
class BareGemv {
 public:
  BareGemv(std::size_t n, Transposed a);
  void operator()();

 private:
  int n_;
  Transposed transposed_;
  std::vector<float> a_, x_, y_;
};

// c (n x n) += a b in double precision.
class BareDgemm {
 public:
  explicit BareDgemm(std::size_t n);
  void operator()();

 private:
  int n_;
  std::vector<double> a_, b_, c_;
};

}  // namespace phsic::bench
