#include "bench/bare.h"

#include <cblas.h>

#include "core/random.h"

namespace phsic::bench {
namespace {

template <class T>
std::vector<T> filled(std::size_t size) {
  Random random(size);
  std::vector<T> values(size);
  // Small, so that thousands of additions to the same c stay finite.
  for (T& value : values) value = static_cast<T>(1e-3 * (random.uniform() - 0.5));
  return values;
}

CBLAS_TRANSPOSE as_cblas(Transposed transposed) {
  return transposed == Transposed::kYes ? CblasTrans : CblasNoTrans;
}

}  // namespace

BareGemm::BareGemm(std::size_t m, std::size_t n, std::size_t k, Transposed a)
    : m_(static_cast<int>(m)),
      n_(static_cast<int>(n)),
      k_(static_cast<int>(k)),
      transposed_(a),
      a_(filled<float>(m * k)),
      b_(filled<float>(k * n)),
      c_(m * n) {}

void BareGemm::operator()() {
  const int width = transposed_ == Transposed::kYes ? m_ : k_;
  cblas_sgemm(CblasRowMajor, as_cblas(transposed_), CblasNoTrans, m_, n_, k_, 1, a_.data(), width,
              b_.data(), n_, 1, c_.data(), n_);
  benchmark::DoNotOptimize(c_.data());
}

BareSyrk::BareSyrk(std::size_t n, std::size_t k)
    : n_(static_cast<int>(n)), k_(static_cast<int>(k)), a_(filled<float>(k * n)), c_(n * n) {}

void BareSyrk::operator()() {
  cblas_ssyrk(CblasRowMajor, CblasUpper, CblasTrans, n_, k_, 1, a_.data(), n_, 1, c_.data(), n_);
  benchmark::DoNotOptimize(c_.data());
}

BareGemv::BareGemv(std::size_t n, Transposed a)
    : n_(static_cast<int>(n)),
      transposed_(a),
      a_(filled<float>(n * n)),
      x_(filled<float>(n)),
      y_(n) {}

void BareGemv::operator()() {
  cblas_sgemv(CblasRowMajor, as_cblas(transposed_), n_, n_, 1, a_.data(), n_, x_.data(), 1, 1,
              y_.data(), 1);
  benchmark::DoNotOptimize(y_.data());
}

BareDgemm::BareDgemm(std::size_t n)
    : n_(static_cast<int>(n)), a_(filled<double>(n * n)), b_(filled<double>(n * n)), c_(n * n) {}

void BareDgemm::operator()() {
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n_, n_, n_, 1, a_.data(), n_, b_.data(),
              n_, 1, c_.data(), n_);
  benchmark::DoNotOptimize(c_.data());
}

}  // namespace phsic::bench
