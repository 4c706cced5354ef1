// A positive-definite kernel: what it is, as a value.
//
//   linear                x.x'
//   cosine                x.x' / |x||x'|            0 where a vector is zero
//   gaussian:sigma=S      exp(-|x-x'|^2 / 2 S^2)    S a number, median, scott or silverman
//   laplacian:gamma=G     exp(-G |x-x'|_1)
//   polynomial:degree=D,gamma=G,offset=C            (G x.x' + C)^D
//   spectrum:n=N          shared n-grams of two texts, normalised (spectrum.h)
//   sum(k,...), product(k,...)                      of any of them, nested
//
// A Gaussian whose sigma is named has to be fitted to data before it can be evaluated; all others
// are ready as they are. Kernels are immutable once made and safe to share between threads.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/archive.h"
#include "core/items.h"

namespace phsic {

class Kernel {
 public:
  enum class Kind : std::uint8_t {
    kLinear,
    kCosine,
    kGaussian,
    kLaplacian,
    kPolynomial,
    kSpectrum,
    kSum,
    kProduct
  };
  // How a Gaussian comes by its sigma. Scott and Silverman give one for each dimension.
  enum class Bandwidth : std::uint8_t { kGiven, kMedian, kScott, kSilverman };

  // Each throws an Error when a parameter would make it no positive-definite kernel.
  [[nodiscard]] static Kernel linear();
  [[nodiscard]] static Kernel cosine();
  [[nodiscard]] static Kernel gaussian(double sigma);
  [[nodiscard]] static Kernel gaussian(Bandwidth bandwidth);
  [[nodiscard]] static Kernel laplacian(double gamma);
  [[nodiscard]] static Kernel polynomial(int degree, double gamma = 1, double offset = 1);
  [[nodiscard]] static Kernel spectrum(int n);
  [[nodiscard]] static Kernel sum(std::vector<Kernel> parts);
  [[nodiscard]] static Kernel product(std::vector<Kernel> parts);

  // From the notation above, and back to it. parse(k.to_string()) is k before fitting.
  [[nodiscard]] static Kernel parse(std::string_view notation);
  [[nodiscard]] std::string to_string() const;

  [[nodiscard]] Kind kind() const { return kind_; }
  [[nodiscard]] double sigma() const { return sigma_; }
  [[nodiscard]] double gamma() const { return gamma_; }
  [[nodiscard]] double offset() const { return offset_; }
  [[nodiscard]] int degree() const { return degree_; }
  [[nodiscard]] int gram_length() const { return gram_length_; }
  // One over each dimension's sigma, 0 for constant dimensions; empty when one sigma serves all.
  [[nodiscard]] const std::vector<double>& scales() const { return scales_; }
  [[nodiscard]] const std::vector<Kernel>& parts() const { return parts_; }

  // Linear and cosine have explicit features; all others need pivots.
  [[nodiscard]] bool is_explicit() const;
  [[nodiscard]] bool is_fitted() const;
  // Is k(x, x) at most 1 for every x, so that features are at most of length 1?
  [[nodiscard]] bool is_bounded() const;
  // Does k(x, x) grow with the length of x without end?
  [[nodiscard]] bool grows() const;
  // Does some Gaussian in it take its sigma from the data?
  [[nodiscard]] bool needs_fitting() const;

  // Is it a kernel on texts, not on vectors?
  [[nodiscard]] bool takes_texts() const;
  // Throws unless the kernel can be evaluated on items of this shape.
  void require_fits(const ItemShape& shape) const;

  // This kernel with every named sigma computed from the items: `median` is the weighted median
  // distance of pairs of items (all pairs if few, else random ones), `scott` and `silverman` are
  // sigma_j = c n^(-1/5) min(std_j, IQR / 1.349) with the IQR over all values together.
  // REQUIRES: weights has an entry for each item, none negative.
  [[nodiscard]] Kernel fitted(const Items<double>& items, const std::vector<double>& weights,
                              std::uint64_t seed) const;

  // The factor by which a fitted sigma of `other` differs from ours, 1 or more: the largest over
  // Gaussians, each taken over its dimensions' geometric mean.
  [[nodiscard]] double bandwidth_ratio(const Kernel& other) const;

  void save(Writer& writer) const;
  [[nodiscard]] static Kernel load(Reader& reader) { return load_nested(reader, 0); }

  bool operator==(const Kernel&) const = default;

 private:
  explicit Kernel(Kind kind) : kind_(kind) {}
  [[nodiscard]] static Kernel load_nested(Reader& reader, int depth);

  Kind kind_;
  Bandwidth bandwidth_ = Bandwidth::kGiven;
  double sigma_ = 0;  // 0 until fitted
  double gamma_ = 0;
  double offset_ = 0;
  int degree_ = 0;
  int gram_length_ = 0;
  std::vector<double> scales_;
  std::vector<Kernel> parts_;
};

}  // namespace phsic
