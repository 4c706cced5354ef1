#include "daemon/serving/dropped_pairs.h"

#include <catch2/catch.hpp>
#include <string>

#include "tests/daemon/stage_scene.h"

namespace phsic::test {
namespace {

// A task of one pair that was dropped.
std::shared_ptr<Task> dropped_task(const StageScene& scene, const std::string& id,
                                   const std::string& text) {
  auto request = request_of(Operation::kScore, {text});
  request.pairs.ids = {id};
  auto task = scene.task(std::move(request));
  task->outcome.score = {-1.5};
  task->outcome.decide(0, {Verdict::kDrop, reasons::kCut});
  return task;
}

TEST_CASE("A pair that was dropped is found by its id, the newest if there are two") {
  const StageScene scene;
  DroppedPairs pairs;
  pairs.add(*dropped_task(scene, "\"a\"", "old"));
  pairs.add(*dropped_task(scene, "\"a\"", "new"));
  const auto found = pairs.find("\"a\"");
  REQUIRE(found.has_value());
  CHECK(found->x == "new");
  CHECK(found->score == -1.5);
  CHECK(found->decision == Decision{Verdict::kDrop, reasons::kCut});
  CHECK_FALSE(pairs.find("a").has_value());
}

TEST_CASE("A text of digits finds the pair whose id was that number, and not the other way round") {
  const StageScene scene;
  DroppedPairs pairs;
  pairs.add(*dropped_task(scene, "4711", "number"));
  pairs.add(*dropped_task(scene, "\"12\"", "text"));
  REQUIRE(pairs.find("\"4711\"").has_value());
  CHECK(pairs.find("\"4711\"")->x == "number");
  CHECK_FALSE(pairs.find("\"471\"").has_value());
  CHECK_FALSE(pairs.find("12").has_value());
}

TEST_CASE("Pairs that are kept, and those without an id, are not remembered") {
  const StageScene scene;
  DroppedPairs pairs;
  const auto kept = dropped_task(scene, "1", "x");
  kept->outcome.decide(0, {Verdict::kKeep, reasons::kNone});
  pairs.add(*kept);
  pairs.add(*dropped_task(scene, "", "x"));
  CHECK_FALSE(pairs.find("1").has_value());
  CHECK_FALSE(pairs.find("").has_value());
}

TEST_CASE("Only so many are remembered, of long texts fewer, and no more than a part of each") {
  const StageScene scene;
  DroppedPairs pairs;
  const auto is_there = [&](std::size_t i) { return pairs.find(std::to_string(i)).has_value(); };
  for (std::size_t i = 0; i <= DroppedPairs::kMostPairs; ++i) {
    pairs.add(*dropped_task(scene, std::to_string(i), "x"));
  }
  CHECK_FALSE(is_there(0));
  CHECK(is_there(1));
  pairs.add(*dropped_task(scene, "long", std::string(5000, 'x')));
  const auto found = pairs.find("long");
  REQUIRE(found.has_value());
  CHECK(found->x.size() == DroppedPairs::kLongestText);
  CHECK(found->is_shortened);
  const std::string padding(3000, '0');
  for (int i = 0; i < 1000; ++i) {
    pairs.add(*dropped_task(scene, padding + std::to_string(i), std::string(1000, 'x')));
  }
  CHECK_FALSE(pairs.find("long").has_value());
  CHECK_FALSE(pairs.find(padding + "100").has_value());
  CHECK(pairs.find(padding + "999").has_value());
}

}  // namespace
}  // namespace phsic::test
