#include "daemon/serving/decide_stage.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <vector>

#include "decide/flag.h"
#include "tests/daemon/stage_scene.h"

namespace phsic::test {
namespace {

const double kNone = std::nan("");

using Flags = std::vector<std::uint8_t>;

struct Deciding : StageScene {
  DecideStage stage{0.05, counters};

  [[nodiscard]] std::shared_ptr<Task> scored(const std::vector<double>& p_values) const {
    auto made = task(request_of(Operation::kScore, std::vector<std::string>(p_values.size(), "x")));
    made->outcome.p_value = p_values;
    return made;
  }
};

TEST_CASE("A pair is flagged from the p-value on, and never without one") {
  CHECK(is_flagged(0.05, 0.05));
  CHECK(is_flagged(1, 0.05));
  CHECK_FALSE(is_flagged(0.049, 0.05));
  CHECK_FALSE(is_flagged(kNone, 0.05));
  CHECK_FALSE(is_flagged(1, 0));
  CHECK_FALSE(is_flagged(0, 0));
}

TEST_CASE("Each row that was scored is decided about, and flags are counted") {
  Deciding scene;
  const auto task = scene.scored({0.049, 0.05, 0.9, kNone});
  scene.stage.decide({StageScene::whole(task)});
  CHECK(task->outcome.flagged == Flags{0, 1, 1, 0});
  CHECK(scene.counters.flagged == 2);
}

TEST_CASE("Rows that others decide about are left alone") {
  Deciding scene;
  const auto first = scene.scored({0.9, 0.9, 0.9, 0.9});
  const auto second = scene.scored({0.9});
  scene.stage.decide({{first, 1, 2}, StageScene::whole(second)});
  CHECK(first->outcome.flagged == Flags{0, 1, 1, 0});
  CHECK(second->outcome.flagged == Flags{1});
  CHECK(scene.counters.flagged == 3);
}

TEST_CASE("Candidates and pairs that are only learned are not decided about") {
  Deciding scene;
  const auto ranked = scene.task(request_of(Operation::kRank, {"a"}));
  ranked->outcome.p_value = {0.9};
  const auto learned = scene.task(request_of(Operation::kLearn, {"a"}));
  scene.stage.decide({StageScene::whole(ranked), StageScene::whole(learned)});
  CHECK(ranked->outcome.flagged.empty());
  CHECK(learned->outcome.flagged.empty());
  CHECK(scene.counters.flagged == 0);
}

TEST_CASE("Another p-value holds for what is decided from then on") {
  Deciding scene;
  scene.stage.set_flag_p_value(0);
  const auto task = scene.scored({1});
  scene.stage.decide({StageScene::whole(task)});
  CHECK(task->outcome.flagged == Flags{0});
  scene.stage.set_flag_p_value(0.5);
  scene.stage.decide({StageScene::whole(task)});
  CHECK(task->outcome.flagged == Flags{1});
}

}  // namespace
}  // namespace phsic::test
