// A random shape for the laws: a stream under one kernel, with everything needed to learn it in
// different ways and to compare what comes out.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/features.h"
#include "core/kernel.h"
#include "core/learner.h"
#include "core/moments.h"
#include "core/random.h"
#include "core/refresh.h"
#include "tests/core/streams.h"

namespace phsic::test {

// A kernel's notation as a template argument.
template <std::size_t N>
struct Notation {
  char text[N] = {};
  constexpr Notation(const char (&source)[N]) { std::copy_n(source, N, text); }
};

// What a typed law is about: scalar, kind of items, kernels of x and y.
template <class T, ItemKind kItemKind, Notation kX, Notation kY>
struct Subject {
  using Scalar = T;
  static constexpr ItemKind kKind = kItemKind;
  static Kernel kernel_x() { return Kernel::parse(kX.text); }
  static Kernel kernel_y() { return Kernel::parse(kY.text); }
  // Agreement of sums that are the same but for rounding, relative to the scores' deviation.
  static constexpr double kTolerance = sizeof(T) == 4 ? 2e-3 : 1e-8;
};

// The same without the scalar, known only at run time.
struct AnySubject {
  ItemKind kind;
  Kernel kernel_x;
  Kernel kernel_y;
};

// The features of all items as a matrix, computed in blocks of whatever size.
template <class T>
[[nodiscard]] Eigen::MatrixXd feature_matrix(const FeatureMap<T>& map, const ItemBlock<T>& items);

// The largest difference, relative to the deviation of the second list; infinite for lists of
// different lengths.
[[nodiscard]] double relative_distance(const std::vector<double>& a, const std::vector<double>& b);

// What a scene needs to know of its subject at run time only, so that it is compiled once for each
// scalar and not for each subject.
template <class T>
struct AnyScene {
  AnyScene(const AnySubject& subject, std::uint64_t seed, std::size_t least = 40,
           std::size_t most = 700);

  // A learner with this scene's pivots that has learned nothing yet.
  [[nodiscard]] Learner<T> learner(const StreamConfig& of) const;
  [[nodiscard]] Learner<T> learner() const { return learner(config); }

  // Learns pair after pair in batches of random sizes, pair i with weights[i] at times[i].
  void feed(Learner<T>& into, const Stream<T>& pairs, const std::vector<double>& weights = {},
            const std::vector<double>& times = {});

  // The covariance of all pairs from its definition, pair i weighing weights[i].
  [[nodiscard]] Covariance batch(const Learner<T>& like, const Stream<T>& pairs,
                                 const std::vector<double>& weights) const;

  [[nodiscard]] static Covariance learned(const Learner<T>& learner);

  // The test pairs' scores under every estimator.
  [[nodiscard]] std::vector<std::vector<double>> scores(const Learner<T>& like,
                                                        const Covariance& covariance,
                                                        const Stream<T>& pairs) const;

  // How far apart two covariances are in what they make every estimator say of the test pairs.
  [[nodiscard]] double distance(const Learner<T>& like, const Covariance& a,
                                const Covariance& b) const;

  [[nodiscard]] std::vector<double> random_weights(std::size_t count);

  Random random;
  Stream<T> stream;
  Stream<T> test;
  StreamConfig config;
  std::optional<PivotChange<T>> pivots;
};

template <class S>
struct Scene : AnyScene<typename S::Scalar> {
  explicit Scene(std::uint64_t seed, std::size_t least = 40, std::size_t most = 700)
      : AnyScene<typename S::Scalar>({S::kKind, S::kernel_x(), S::kernel_y()}, seed, least, most) {}
};

}  // namespace phsic::test
