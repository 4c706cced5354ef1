// These tests start threads: those of a real state writer.
#include "daemon/serving/decision_keeper.h"

#include <array>
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

#include "decide/rules.h"
#include "tests/daemon/kept_scene.h"

namespace phsic::test {
namespace {

std::shared_ptr<const DecidePlan> cut_at(double score) {
  auto plan = open_plan();
  plan.cut = {CutSpec::Kind::kScore, score};
  return std::make_shared<const DecidePlan>(std::move(plan));
}

// The cuts in the journal's file, once all is written.
std::vector<std::string> cuts_in_file(KeptScene& scene) {
  CHECK(scene.settle().empty());
  std::vector<std::string> cuts;
  for (const auto& entry : scene.entries()) {
    if (entry.kind == EntryKind::kCut) cuts.push_back(entry.cut);
  }
  return cuts;
}

void learn(DecisionKeeper& keeper, int pairs) {
  for (int i = 0; i < pairs; ++i) keeper.learned("how are you", "wie geht es", {}, 0, kNoId, {});
}

void reject(DecisionKeeper& keeper, const char* rule, int pairs) {
  const auto reason = reason_of(*find_rule(rule), PairSide::kRight);
  for (int i = 0; i < pairs; ++i) keeper.rejected(code_of({Verdict::kDrop, reason}));
}

TEST_CASE("Another plan waits until the learner follows it, and cuts the model in use then") {
  KeptScene scene;
  auto& keeper = scene.decisions;
  scene.stream.publish(fake_model(1));
  keeper.set_plan(cut_at(1.5), "{}");
  keeper.set_plan(cut_at(2.5), R"({"score":"2.5"})");
  CHECK(keeper.memory().plan() == open_plan());
  CHECK(scene.stream.cuts_set == 0);

  // Of two the later.
  keeper.follow_plan();
  CHECK(keeper.memory().plan() == *cut_at(2.5));
  CHECK(scene.stream.cut == 2.5);
  CHECK(cuts_in_file(scene) == std::vector{keeper.memory().cut_note()});
  StateParts parts;
  keeper.save(parts);
  CHECK(parts[kDecideOptionsPart] == R"({"score":"2.5"})");

  // Once.
  keeper.follow_plan();
  CHECK(scene.stream.cuts_set == 1);
  CHECK(cuts_in_file(scene).size() == 1);
}

TEST_CASE("A plan with the same cut, and one before there is a model, cut nothing") {
  KeptScene scene;
  const bool has_model = GENERATE(false, true);
  auto other = has_model ? open_plan() : *cut_at(2.5);
  other.duplicates = DuplicatePolicy::kDrop;
  if (has_model) scene.stream.publish(fake_model(1));
  scene.decisions.set_plan(std::make_shared<const DecidePlan>(other), "{}");
  scene.decisions.follow_plan();
  CHECK(scene.decisions.memory().plan() == other);
  CHECK(scene.stream.cuts_set == 0);
  CHECK(cuts_in_file(scene).empty());
}

TEST_CASE("A recovered model without a cut gets one, which is owed to the journal") {
  KeptScene scene;
  scene.stream.publish(fake_model(1));
  DecisionKeeper keeper(scene.stream, &scene.journal, {}, *cut_at(2.5), "{}", scene.plan);
  CHECK(scene.stream.cut == 2.5);
  CHECK(cuts_in_file(scene).empty());
  const bool is_paid_by_model = GENERATE(false, true);
  if (is_paid_by_model) {
    // Its own cut is noted with it.
    scene.stream.chooser(Calibration());
    keeper.freeze(PairExtent::kAll);
    keeper.adopt("adoption");
    CHECK(cuts_in_file(scene).size() == 1);
  }
  keeper.follow_plan();
  CHECK(cuts_in_file(scene) == std::vector{keeper.memory().cut_note()});

  // What was kept is taken over, and nothing is owed.
  StateParts parts;
  keeper.save(parts);
  scene.stream.cut.reset();
  DecisionKeeper again(scene.stream, &scene.journal, parts, *cut_at(2.5), "{}", scene.plan);
  CHECK(scene.stream.cut == 2.5);
  again.follow_plan();
  CHECK(cuts_in_file(scene).size() == 1);
}

TEST_CASE("Without a journal decisions are remembered, and nothing is noted") {
  StageScene scene;
  scene.stream.publish(fake_model(1));
  DecisionKeeper keeper(scene.stream, nullptr, {}, *cut_at(2.5), "{}", scene.plan);
  CHECK(keeper.notes() == nullptr);
  keeper.follow_plan();
  learn(keeper, 2);
  reject(keeper, "no_empty", 1);
  keeper.set_plan(cut_at(3.5), "{}");
  keeper.follow_plan();
  CHECK(scene.stream.cut == 3.5);
  CHECK(keeper.memory().counts().verdicts == std::array<std::uint64_t, 3>{2, 1, 0});
  CHECK(keeper.memory().counts().rejected == 1);
}

TEST_CASE("Rules go by the languages of the last model, and by none when these reject most pairs") {
  KeptScene scene;
  auto& keeper = scene.decisions;
  const LanguageProfile none;
  learn(keeper, 10);
  CHECK(*scene.plan.profile() == none);
  scene.stream.chooser(Calibration());
  const auto known = scene.plan.profile();
  CHECK_FALSE(*known == none);
  CHECK(known == keeper.memory().profile());

  reject(keeper, "no_wrong_language", 8);
  CHECK(scene.plan.profile() == known);
  reject(keeper, "no_wrong_language", 4);
  CHECK(*scene.plan.profile() == none);

  // The next model knows them again, and other rules take nothing away.
  scene.stream.chooser(Calibration());
  CHECK(*scene.plan.profile() == *known);
  reject(keeper, "no_empty", 100);
  CHECK(*scene.plan.profile() == *known);
}

}  // namespace
}  // namespace phsic::test
