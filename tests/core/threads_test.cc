// What may be done from several threads at once. The thread sanitizer runs these tests only.
#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>
#include <thread>
#include <vector>

#include "core/blas.h"
#include "core/random.h"
#include "core/refresh.h"
#include "tests/core/scene.h"

namespace phsic::test {
namespace {

using Gaussian = Subject<float, ItemKind::kDense, "gaussian", "gaussian">;

TEST_CASE("Threads that decompose matrices at the same time do not disturb each other") {
  // Large enough for the blocked routines, which need work space.
  constexpr Eigen::Index kSize = 300;
  Random random(3);
  Eigen::MatrixXd matrix(kSize, kSize);
  for (Eigen::Index i = 0; i < matrix.size(); ++i) matrix.data()[i] = random.normal();
  const auto decompose = [&] {
    Eigen::MatrixXd basis = matrix;
    blas::orthonormalise(basis);
    const auto svd = blas::thin_svd(matrix);
    const auto pairs = blas::symmetric_eigen(matrix * matrix.transpose());
    return Eigen::MatrixXd(basis + svd.u + svd.v + pairs.vectors);
  };
  const Eigen::MatrixXd alone = decompose();
  std::vector<int> wrong(4, 0);
  std::vector<std::thread> threads;
  for (auto& count : wrong) {
    threads.emplace_back([&] {
      for (int i = 0; i < 4; ++i) count += decompose() == alone ? 0 : 1;
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(wrong == std::vector<int>(4, 0));
}

TEST_CASE("Threads that multiply small matrices at the same time do not disturb each other") {
  constexpr std::size_t kSize = 40;
  constexpr int kProducts = 3000;
  Random random(4);
  std::vector<double> a(kSize * kSize);
  for (double& value : a) value = random.normal();
  const auto multiply = [&](std::vector<double>& c) {
    c.assign(kSize * kSize, 0);
    blas::multiply_transposed(kSize, kSize, kSize, a.data(), a.data(), c.data());
  };
  std::vector<double> alone;
  multiply(alone);
  std::vector<int> wrong(4, 0);
  std::vector<std::thread> threads;
  for (auto& count : wrong) {
    threads.emplace_back([&] {
      std::vector<double> c;
      for (int i = 0; i < kProducts; ++i) {
        multiply(c);
        count += c == alone ? 0 : 1;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(wrong == std::vector<int>(4, 0));
}

TEST_CASE("Any number of threads score with one model") {
  Scene<Gaussian> scene(17, 1000, 1000);
  Learner<float> learner(scene.config);
  scene.feed(learner, scene.stream);
  EstimatorSpec spec;
  spec.kind = EstimatorKind::kGaussianPmi;
  const std::shared_ptr<const Model<float>> model =
      refresh(learner, spec, Learner<float>::Extent::kAll).model;
  const auto score_all = [&](std::vector<double>& scores) {
    ScoreScratch<float> scratch;
    scores.resize(1000);
    for (int i = 0; i < 5; ++i) {
      model->score(scene.stream.x.view(), scene.stream.y.view(), scores.data(), nullptr, scratch);
    }
  };
  std::vector<double> alone;
  score_all(alone);
  CHECK(std::count(alone.begin(), alone.end(), alone.front()) == 1);
  std::vector<std::vector<double>> results(4);
  std::vector<std::thread> threads;
  // One thread goes on learning and refreshing its own copy meanwhile.
  threads.emplace_back([copy = learner, spec, &scene]() mutable {
    copy.learn(scene.stream.x.view(), scene.stream.y.view(), nullptr, nullptr, nullptr);
    const auto refreshed = refresh(copy, spec, Learner<float>::Extent::kAll);
    if (refreshed.pivots) copy.adopt(*refreshed.pivots);
  });
  for (auto& result : results) threads.emplace_back([&] { score_all(result); });
  for (std::thread& thread : threads) thread.join();
  for (const auto& result : results) CHECK(result == alone);
}

}  // namespace
}  // namespace phsic::test
