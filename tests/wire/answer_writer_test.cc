#include "wire/answer_writer.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/calibration.h"
#include "core/model.h"

namespace phsic::test {
namespace {

constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();

std::shared_ptr<const PublishedModel> model_17(Calibration calibration = {}) {
  constexpr ItemShape kShape{ItemKind::kDense, 1};
  auto published = std::make_shared<PublishedModel>();
  published->number = 17;
  published->model = std::make_shared<const Model<float>>(
      kShape, kShape, nullptr, nullptr, std::nullopt, std::move(calibration), ModelFacts());
  return published;
}

nlohmann::json answer_to(const Request& request, const Outcome& outcome) {
  return nlohmann::json::parse(answer_json(request, outcome, scores_json(request, outcome)));
}

void decide(Outcome& outcome, const std::vector<Decision>& decisions) {
  outcome.verdict.resize(decisions.size());
  outcome.reason.resize(decisions.size());
  for (std::size_t i = 0; i < decisions.size(); ++i) outcome.decide(i, decisions[i]);
}

// Members in the order in which they are written.
std::vector<std::string> members_of(const std::string& answer) {
  std::vector<std::string> names;
  const auto object = nlohmann::ordered_json::parse(answer);
  for (const auto& member : object.items()) names.push_back(member.key());
  return names;
}

constexpr Decision kKept{Verdict::kKeep, reasons::kNone};
constexpr Decision kBelowCut{Verdict::kDrop, reasons::kCut};
constexpr Decision kUnread{Verdict::kUndecided, reasons::kUnscored};

Request asking(Operation operation, std::string id = "42") {
  Request request;
  request.operation = operation;
  request.id = std::move(id);
  request.scores = operation == Operation::kScore || operation == Operation::kRank;
  request.learns = operation == Operation::kLearn;
  return request;
}

TEST_CASE("An answer with scores has their percentiles, p-values, decisions and model") {
  Outcome outcome;
  outcome.score = {1.83, -0.25};
  outcome.percentile = {0.61, 0.1};
  outcome.p_value = {0.012, 1};
  decide(outcome, {kKept, kBelowCut});
  outcome.published = model_17(Calibration({1, 2}, {0, 1}));
  CHECK(answer_to(asking(Operation::kScore), outcome) == nlohmann::json::parse(R"({
    "ok": true, "id": 42, "scores": [1.83, -0.25], "percentiles": [0.61, 0.1],
    "p_values": [0.012, 1], "decisions": ["keep", "drop"], "reasons": [null, "cut"],
    "model": 17, "epoch": 0})"));
}

TEST_CASE("As long as the model is not calibrated there are neither percentiles nor p-values") {
  Outcome outcome;
  outcome.score = {1.83};
  outcome.percentile = outcome.p_value = {kNoNumber};
  decide(outcome, {Decision()});
  outcome.published = model_17();
  CHECK(answer_to(asking(Operation::kScore, ""), outcome) ==
        nlohmann::json::parse(R"({"ok": true, "scores": [1.83], "decisions": ["undecided"],
          "reasons": ["no_model"], "model": 17, "epoch": 0})"));
}

TEST_CASE("A pair without a score has null, and its reason and problem say why") {
  Outcome outcome;
  outcome.score = {1, kNoNumber, std::numeric_limits<double>::infinity()};
  outcome.percentile = {0.5, kNoNumber, kNoNumber};
  outcome.p_value = outcome.percentile;
  decide(outcome, {kKept, kUnread, {Verdict::kDrop, reasons::kNearDuplicate}});
  outcome.published = model_17(Calibration({1, 2}, {0, 1}));
  outcome.problems = {{1, "a \"bad\" text"}};
  CHECK(answer_to(asking(Operation::kScore), outcome) == nlohmann::json::parse(R"({
    "ok": true, "id": 42, "scores": [1, null, null], "percentiles": [0.5, null, null],
    "p_values": [0.5, null, null], "decisions": ["keep", "undecided", "drop"],
    "reasons": [null, "unscored", "near_duplicate"], "model": 17, "epoch": 0,
    "problems": [{"pair": 1, "message": "a \"bad\" text"}]})"));
}

TEST_CASE("Candidates are ranked, best first, and those without a score last") {
  Outcome outcome;
  outcome.score = {-0.4, kNoNumber, 1.83, -0.4};
  outcome.published = model_17(Calibration({1, 2}, {0, 1}));
  outcome.problems = {{PairProblem::kNoRow, "x is bad"}};
  CHECK(answer_to(asking(Operation::kRank, "\"r\""), outcome) == nlohmann::json::parse(R"({
    "ok": true, "id": "r", "scores": [-0.4, null, 1.83, -0.4], "ranking": [2, 0, 3, 1],
    "model": 17, "epoch": 0, "problems": [{"message": "x is bad"}]})"));
}

TEST_CASE("An answer to learn has the pairs learned, and those until a model by both names") {
  Outcome outcome;
  outcome.learned = 3;
  outcome.until_refresh = 255;
  CHECK(answer_to(asking(Operation::kLearn), outcome) == nlohmann::json::parse(R"({
    "ok": true, "id": 42, "learned": 3, "until_refresh": 255, "room": 255, "not_learned": 0})"));
  outcome.until_refresh.reset();
  outcome.duplicates = 2;
  outcome.not_learned = 4;
  outcome.is_durable = true;
  CHECK(answer_to(asking(Operation::kLearn), outcome) == nlohmann::json::parse(R"({
    "ok": true, "id": 42, "learned": 3, "duplicates": 2, "not_learned": 4, "durable": true})"));
}

TEST_CASE("A score-and-learn has the members of both") {
  auto request = asking(Operation::kScore);
  request.learns = true;
  Outcome outcome;
  outcome.score = {2};
  outcome.percentile = outcome.p_value = {kNoNumber};
  decide(outcome, {{Verdict::kDrop, reasons::kDuplicate}});
  outcome.published = model_17();
  outcome.learned = 1;
  outcome.not_learned = 1;
  outcome.until_refresh = 7;
  CHECK(answer_to(request, outcome) == nlohmann::json::parse(R"({
    "ok": true, "id": 42, "scores": [2], "decisions": ["drop"], "reasons": ["duplicate"],
    "model": 17, "epoch": 0, "learned": 1, "until_refresh": 7, "room": 7, "not_learned": 1})"));
}

TEST_CASE("An error is the whole answer, also when the scores were written before it") {
  const auto request = asking(Operation::kScore);
  Outcome outcome;
  outcome.score = {2};
  outcome.percentile = outcome.p_value = {kNoNumber};
  decide(outcome, {kKept});
  outcome.published = model_17();
  const auto scores = scores_json(request, outcome);
  REQUIRE_FALSE(scores.empty());
  outcome.error.emplace("not_durable", "the \"disk\"\n");
  CHECK(nlohmann::json::parse(answer_json(request, outcome, scores)) == nlohmann::json::parse(R"({
    "ok": false, "id": 42, "error": {"code": "not_durable", "message": "the \"disk\"\n"}})"));
  CHECK(scores_json(request, outcome).empty());
  CHECK(nlohmann::json::parse(error_answer("", "failed", "x")) == nlohmann::json::parse(R"({
    "ok": false, "error": {"code": "failed", "message": "x"}})"));
}

TEST_CASE("An explanation has the decision, score, rest, and pairs that raise and lower it") {
  Outcome outcome;
  outcome.percentile = {0.61};
  outcome.p_value = {0.012};
  decide(outcome, {kBelowCut});
  outcome.explanation.emplace();
  auto& explanation = *outcome.explanation;
  explanation.score = 1.83;
  explanation.rest = -0.5;
  explanation.published = model_17();
  explanation.raise = {{0.25, 8123, "how do you do", "fine", ""}, {0.125, 1, "a", "b", ""}};
  const auto request = asking(Operation::kExplain);
  CHECK(members_of(answer_json(request, outcome, "")) ==
        std::vector<std::string>{"ok", "id", "percentile", "p_value", "decision", "reason", "score",
                                 "rest", "model", "epoch", "raise", "lower"});
  CHECK(answer_to(request, outcome) == nlohmann::json::parse(R"({
    "ok": true, "id": 42, "percentile": 0.61, "p_value": 0.012, "decision": "drop",
    "reason": "cut", "score": 1.83, "rest": -0.5, "model": 17, "epoch": 0,
    "raise": [{"contribution": 0.25, "x": "how do you do", "y": "fine", "number": 8123},
              {"contribution": 0.125, "x": "a", "y": "b", "number": 1}],
    "lower": []})"));
  // By a model that is not calibrated.
  outcome.percentile = outcome.p_value = {kNoNumber};
  decide(outcome, {Decision()});
  const auto uncalibrated = answer_to(request, outcome);
  CHECK_FALSE(uncalibrated.contains("percentile"));
  CHECK_FALSE(uncalibrated.contains("p_value"));
  CHECK(uncalibrated["decision"] == "undecided");
  CHECK(uncalibrated["reason"] == "no_model");
}

TEST_CASE("What each of several views says is told, and which of them were left out") {
  Outcome outcome;
  outcome.percentile = {0.61};
  outcome.p_value = {0.012};
  decide(outcome, {kBelowCut});
  auto& explanation = outcome.explanation.emplace();
  explanation.score = 1.5;
  explanation.published = model_17();
  explanation.raise = {{0.25, 1, "a", "b", "words"}};
  explanation.views = {{"hashing", 0.6, 2.5, 1.25, ""},
                       {"words", 0.4, std::nan(""), std::nan(""), "x: no known word"}};
  const auto explained = answer_to(asking(Operation::kExplain), outcome);
  CHECK(explained["views"] == nlohmann::json::parse(R"([
    {"name": "hashing", "weight": 0.6, "score": 2.5, "standardised": 1.25},
    {"name": "words", "weight": 0.4, "score": null, "standardised": null,
     "message": "x: no known word"}])"));
  CHECK(explained["raise"][0]["view"] == "words");

  Outcome scored;
  scored.score = {1.5};
  scored.percentile = {0.61};
  scored.p_value = {0.012};
  decide(scored, {kBelowCut});
  scored.left_out = {{0, "words", "x: no known word"}};
  CHECK(answer_to(asking(Operation::kScore), scored)["left_out"] ==
        nlohmann::json::parse(R"([{"pair": 0, "view": "words", "message": "x: no known word"}])"));
}

TEST_CASE("An explanation by id has the pair as it was dropped, with a model or without") {
  Outcome outcome;
  outcome.dropped.emplace();
  auto& dropped = *outcome.dropped;
  dropped.id = "\"m-1\"";
  dropped.score = -0.5;
  dropped.percentile = 0.25;
  dropped.p_value = 0.5;
  dropped.decision = kBelowCut;
  dropped.model = 16;
  dropped.time = 1700000000.5;
  dropped.x = "a \"b\"";
  dropped.y = "c";
  auto expected = nlohmann::json::parse(R"({"ok": true, "id": 42, "dropped": {
    "id": "m-1", "percentile": 0.25, "p_value": 0.5, "decision": "drop", "reason": "cut",
    "score": -0.5, "model": 16, "epoch": 0, "time": 1700000000.5, "x": "a \"b\"", "y": "c"}})");
  const auto request = asking(Operation::kExplain);
  CHECK(answer_to(request, outcome) == expected);
  dropped.is_shortened = true;
  expected["dropped"]["shortened"] = true;
  CHECK(answer_to(request, outcome) == expected);
  dropped.are_vectors = true;
  for (const char* name : {"x", "y", "shortened"}) expected["dropped"].erase(name);
  CHECK(answer_to(request, outcome) == expected);
}

TEST_CASE("A refresh and a snapshot tell what they have made") {
  Outcome outcome;
  outcome.published = model_17();
  outcome.pairs = 5120;
  outcome.snapshot_bytes = 1404928;
  CHECK(answer_to(asking(Operation::kSnapshot), outcome) == nlohmann::json::parse(R"({
    "ok": true, "id": 42, "pairs": 5120, "bytes": 1404928})"));
  const auto refresh = answer_to(asking(Operation::kRefresh), outcome);
  CHECK(refresh["model"] == 17);
  CHECK(refresh["epoch"] == 0);
  CHECK(refresh["pairs"] == 5120);
  CHECK_FALSE(refresh.contains("bytes"));
}

}  // namespace
}  // namespace phsic::test
