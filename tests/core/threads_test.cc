// What may be done from several threads at once. The thread sanitizer runs these tests only.
#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>
#include <thread>
#include <vector>

#include "core/refresh.h"
#include "tests/core/scene.h"

namespace phsic::test {
namespace {

using Gaussian = Subject<float, ItemKind::kDense, "gaussian", "gaussian">;

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
