// Decisions by a model's judge, and the reasons that it gives.
#include "decide/decision.h"

#include <catch2/catch.hpp>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/model.h"
#include "decide/decide_spec.h"
#include "decide/decision_memory.h"
#include "decide/memory_replay.h"
#include "decide/rules.h"
#include "engine/damage.h"
#include "engine/decision_replay.h"

namespace phsic::test {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr auto kMissing = static_cast<std::uint8_t>(3);

PublishedModel model_of(std::optional<double> cut, bool cuts_by_quality) {
  PublishedModel model;
  model.cut = cut;
  model.cuts_by_quality = cuts_by_quality;
  return model;
}

Judgement judgement_of(double quality, std::uint8_t kind = kMissing) {
  Judgement judgement;
  judgement.quality = quality;
  judgement.kind = kind;
  return judgement;
}

TEST_CASE("Without a cut by quality the score decides, whatever a judge says") {
  const auto model = model_of(2.0, false);
  for (const auto& judgement : {judgement_of(0), judgement_of(1), judgement_of(kNan)}) {
    CHECK(decide_by_model(model, 2, &judgement) == Decision{Verdict::kKeep, reasons::kNone});
    CHECK(decide_by_model(model, 1.9, &judgement) == Decision{Verdict::kDrop, reasons::kCut});
    CHECK(decide_by_model(model, kNan, &judgement) ==
          Decision{Verdict::kUndecided, reasons::kUnscored});
  }
  CHECK(decide_by_model(model, 1, nullptr) == decide_by_score(1, 2.0));
  CHECK(decide_by_model(model_of({}, false), 1, nullptr) == decide_by_score(1, {}));
}

TEST_CASE("With a cut by quality a pair is kept from it on, whatever its score") {
  const auto model = model_of(0.5, true);
  for (const double score : {-1e9, 0.0, 1e9}) {
    const auto enough = judgement_of(0.5);
    CHECK(decide_by_model(model, score, &enough) == Decision{Verdict::kKeep, reasons::kNone});
    const auto little = judgement_of(0.4999);
    CHECK(decide_by_model(model, score, &little).verdict == Verdict::kDrop);
  }
}

TEST_CASE("What a judge drops has the damage that it looks like as its reason") {
  const auto model = model_of(0.5, true);
  for (const auto& kind : damage_kinds()) {
    const auto judgement = judgement_of(0.1, kind.number);
    const auto decision = decide_by_model(model, 3, &judgement);
    CHECK(decision == Decision{Verdict::kDrop, reason_of(kind)});
    CHECK(name_of_reason(decision.reason) == kind.name);
  }
}

TEST_CASE("Where a cut by quality has nothing to go by, nothing is decided") {
  const auto model = model_of(0.5, true);
  CHECK(decide_by_model(model, 3, nullptr) == Decision{Verdict::kUndecided, reasons::kNoModel});
  const auto bad = judgement_of(0.1);
  CHECK(decide_by_model(model, kNan, &bad) == Decision{Verdict::kUndecided, reasons::kUnscored});
  CHECK(decide_by_model(model, kNan, nullptr) == Decision{Verdict::kUndecided, reasons::kUnscored});
  const auto unknown = judgement_of(kNan);
  CHECK(decide_by_model(model, 3, &unknown).verdict == Verdict::kUndecided);
  const auto good = judgement_of(0.9);
  CHECK(decide_by_model(model_of({}, true), 3, &good) ==
        Decision{Verdict::kUndecided, reasons::kNoModel});
}

TEST_CASE("Every reason has a code of its own and a name of its own") {
  std::set<std::string> names;
  std::set<int> codes = {reasons::kNone,          reasons::kCut,      reasons::kDuplicate,
                         reasons::kNearDuplicate, reasons::kUnscored, reasons::kNoModel,
                         reasons::kBadLine};
  for (const int code : codes) names.insert(name_of_reason(static_cast<ReasonCode>(code)));
  const auto add = [&](ReasonCode code) {
    CAPTURE(static_cast<int>(code), name_of_reason(code));
    CHECK(is_reason(code));
    CHECK(codes.insert(code).second);
    CHECK(names.insert(name_of_reason(code)).second);
  };
  for (const auto& rule : rule_table()) {
    for (const auto side : {PairSide::kBoth, PairSide::kLeft, PairSide::kRight}) {
      add(reason_of(rule, side));
      CHECK(reason_of(rule, side) < reasons::kFirstDamage);
      CHECK(is_rejection(reason_of(rule, side)));
    }
  }
  for (const auto& kind : damage_kinds()) {
    add(reason_of(kind));
    CHECK(reason_of(kind) == reasons::kFirstDamage + kind.number);
  }
  CHECK_FALSE(is_reason(255));
}

TEST_CASE("Damage that a judge finds is no rejection: a score was looked at") {
  for (const auto& kind : damage_kinds()) {
    CHECK_FALSE(is_rejection(reason_of(kind)));
    const Decision by_judge{Verdict::kDrop, reason_of(kind)};
    const Decision other{Verdict::kKeep, reasons::kNone};
    CHECK(decide_by_rule(reason_of(kind), other) == other);
    CHECK(decide_by_rule(reasons::kDuplicate, by_judge) ==
          Decision{Verdict::kDrop, reasons::kDuplicate});
  }
}

TEST_CASE("The quality of what was rejected is 0, and of all else what the judge says") {
  const auto& rule = rule_table().front();
  for (const auto reason : {reasons::kDuplicate, reasons::kNearDuplicate, reasons::kBadLine,
                            reason_of(rule, PairSide::kLeft)}) {
    CHECK(quality_of({Verdict::kDrop, reason}, 0.9) == 0);
    CHECK(quality_of({Verdict::kDrop, reason}, kNan) == 0);
  }
  for (const auto reason :
       {reasons::kNone, reasons::kCut, reasons::kNoModel, reason_of(damage_kinds().front())}) {
    CHECK(quality_of({Verdict::kDrop, reason}, 0.9) == 0.9);
    CHECK(std::isnan(quality_of({Verdict::kDrop, reason}, kNan)));
  }
}

TEST_CASE("Damage that a judge has found is remembered, saved and replayed from a journal") {
  DecidePlan plan;
  plan.cut = {CutSpec::Kind::kQuality, 0.5};
  DecisionMemory memory(plan);
  MemoryReplay replay(plan);
  std::string scratch;
  for (const auto& kind : damage_kinds()) {
    const Decision decision{Verdict::kDrop, reason_of(kind)};
    const auto code = code_of(decision);
    CHECK(decision_of(code) == decision);
    const std::string x = "one " + std::string(kind.name);
    memory.learned(x, "another", key_of(x, "another", scratch), decision);
    replay.learned(x, "another", code);
  }
  REQUIRE(memory.counts().reasons.size() == damage_kinds().size());
  DecisionMemory loaded(plan);
  loaded.load(memory.save());
  CHECK(loaded.counts() == memory.counts());
  StateParts parts;
  replay.save(parts);
  CHECK(memory_of(parts, plan).save() == memory.save());
}

TEST_CASE("A cut by quality is chosen at once, and stays for every model") {
  DecidePlan plan;
  plan.cut = {CutSpec::Kind::kQuality, 0.25};
  DecisionMemory memory(plan);
  CHECK(memory.choose_cut(Calibration()) == 0.25);
  CHECK(memory.choose_cut(Calibration({1, 2, 3}, {0, 1})) == 0.25);
  DecisionMemory loaded(plan);
  loaded.load(memory.save());
  CHECK(loaded.has_cut());
  CHECK(loaded.cut() == 0.25);
  DecidePlan other;
  DecisionMemory by_p(other);
  by_p.load(memory.save());
  CHECK_FALSE(by_p.has_cut());
}

TEST_CASE("A cut by quality without a judge is refused, with what to do about it") {
  DecideSpec spec;
  spec.set("quality", "0.5");
  StreamSpec stream;
  CHECK_THROWS_WITH(
      plan_of(spec, stream),
      "quality: the stream has no judge, expected one; say `judge: true` (--judge true)");
  stream.judges = true;
  CHECK(plan_of(spec, stream).cut == CutSpec{CutSpec::Kind::kQuality, 0.5});
  CHECK(is_cut_option("quality"));
}

TEST_CASE("Other cuts work with a judge, and a quality is a share") {
  StreamSpec stream;
  stream.judges = true;
  DecideSpec by_p;
  by_p.set("p", "0.1");
  CHECK(plan_of(by_p, stream).cut == CutSpec{CutSpec::Kind::kP, 0.1});
  for (const char* bad : {"-0.1", "1.1", "nan", "half", ""}) {
    CAPTURE(bad);
    DecideSpec spec;
    CHECK_THROWS_AS(spec.set("quality", bad), Error);
  }
  DecideSpec twice;
  twice.set("quality", "0.5");
  CHECK_THROWS_AS(twice.set("p", "0.1"), Error);
}

TEST_CASE("Where no cut is named the judge decides if there is one, unless the score shall") {
  constexpr CutSpec kEven{CutSpec::Kind::kQuality, 0.5};
  StreamSpec judged;
  judged.judges = true;
  CHECK(plan_of({}, judged).cut == kEven);
  CHECK(plan_of({}, StreamSpec()).cut == CutSpec());
  DecideSpec automatic;
  automatic.set("quality", "auto");
  CHECK(plan_of(automatic, judged).cut == kEven);
  DecideSpec by_score;
  by_score.set("decide-by", "score");
  CHECK(plan_of(by_score, judged).cut == CutSpec());
  DecideSpec by_judge;
  by_judge.set("decide-by", "judge");
  CHECK(plan_of(by_judge, judged).cut == kEven);
  CHECK_THROWS_WITH(
      plan_of(by_judge, StreamSpec()),
      "decide-by: the stream has no judge, expected one; say `judge: true` (--judge true)");
  StreamSpec counting;
  counting.counts = true;
  CHECK_THROWS_WITH(
      plan_of(by_judge, counting),
      "decide-by: found judge for a stream that counts (estimator pmi), expected score");
  CHECK(plan_of(by_score, counting).cut.kind == CutSpec::Kind::kNone);
  by_judge.set("p", "0.1");
  CHECK_THROWS_WITH(plan_of(by_judge, judged),
                    "decide-by: found judge and the cut p, expected a cut that it decides by");
  by_score.set("quality", "0.4");
  CHECK_THROWS_WITH(
      plan_of(by_score, judged),
      "decide-by: found score and the cut quality, expected a cut that it decides by");
  CHECK_THROWS_WITH(by_score.set("decide-by", "luck"),
                    "decide-by: found \"luck\", expected judge or score");
}

TEST_CASE("Where a judge has said nothing the usual p-value decides, once there are any") {
  auto model = model_of(0.5, true);
  CHECK(decide_by_model(model, 3, nullptr) == Decision{Verdict::kUndecided, reasons::kNoModel});
  std::vector<double> exchanged;
  for (int i = 0; i < 100; ++i) exchanged.push_back(i);
  model.model = std::make_shared<const Model<float>>(
      ItemShape{}, ItemShape{}, nullptr, nullptr, std::nullopt,
      Calibration({50, 99, 120}, std::move(exchanged)), ModelFacts());
  CHECK(decide_by_model(model, 98, nullptr) == Decision{Verdict::kKeep, reasons::kNone});
  CHECK(decide_by_model(model, 50, nullptr) == Decision{Verdict::kDrop, reasons::kCut});
  CHECK(decide_by_model(model, kNan, nullptr) == Decision{Verdict::kUndecided, reasons::kUnscored});
  const auto good = judgement_of(0.9);
  CHECK(decide_by_model(model, 50, &good) == Decision{Verdict::kKeep, reasons::kNone});
}

}  // namespace
}  // namespace phsic::test
