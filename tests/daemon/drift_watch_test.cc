#include "daemon/serving/drift_watch.h"

#include <catch2/catch.hpp>

#include "tests/daemon/stage_scene.h"

namespace phsic::test {
namespace {

Calibration usual_scores() {
  std::vector<double> scores;
  for (int i = 0; i < 200; ++i) scores.push_back(i);
  return {scores, scores};
}
const std::vector<double> kStrange(64, 1000.0);

struct Watching : StageScene {
  DriftWatch watch{ServingState(0), counters, reporter};
  std::shared_ptr<const PublishedModel> model = fake_model(1, usual_scores());
};

TEST_CASE("Scores unlike those of the calibration raise one alarm for a model") {
  Watching scene;
  for (int i = 0; i < 10; ++i) scene.watch.add(kStrange, *scene.model);
  CHECK(scene.counters.drifts == 1);
  CHECK(scene.counters.drift_p_value < 0.01);
  const auto events = scene.listener.events_of<DriftEvent>();
  REQUIRE(events.size() == 1);
  CHECK(events[0].model == 1);
  CHECK(events[0].pairs == 64);
  scene.watch.add(kStrange, *fake_model(2, usual_scores()));
  CHECK(scene.counters.drifts == 2);
}

TEST_CASE("Scores like those of the calibration raise none") {
  Watching scene;
  std::vector<double> scores;
  for (int i = 0; i < 64; ++i) scores.push_back(3 * i);
  scene.watch.add(scores, *scene.model);
  CHECK(scene.counters.drifts == 0);
  CHECK(scene.counters.drift_p_value > 0.05);
}

TEST_CASE("A model of all pairs is not watched: it was calibrated before it was built") {
  Watching scene;
  auto whole = *scene.model;
  whole.is_whole = true;
  scene.watch.add(kStrange, whole);
  CHECK(scene.counters.drifts == 0);
}

TEST_CASE("What was watched before a restart counts after it") {
  Watching scene;
  const std::vector<double> half(32, 1000.0);
  scene.watch.add(half, *scene.model);
  ServingState saved(0);
  scene.watch.save(saved);
  DriftWatch again(saved, scene.counters, scene.reporter);
  CHECK(scene.counters.drifts == 0);
  again.add(half, *scene.model);
  CHECK(scene.counters.drifts == 1);
}

}  // namespace
}  // namespace phsic::test
