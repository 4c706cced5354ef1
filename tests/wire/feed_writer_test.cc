#include "wire/feed_writer.h"

#include <catch2/catch.hpp>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace phsic::test {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

nlohmann::json object_of(std::string_view members) {
  return nlohmann::json::parse("{" + std::string(members));
}

struct ScoredPairs {
  Request request;
  Outcome outcome;

  ScoredPairs() {
    request.operation = Operation::kScore;
    request.arrival_time = 1700000001;
    request.pairs.x = {"how are \"you\"", "b", "c"};
    request.pairs.y = {"fine", "e", "f"};
    request.pairs.ids = {"\"m-1\"", "", "7"};
    request.pairs.times = {1700000000.5, kNaN, -1};
    auto model = std::make_shared<PublishedModel>();
    model->number = 17;
    outcome.published = model;
    outcome.score = {1.83, 0.5, kNaN};
    outcome.percentile = {0.61, kNaN, kNaN};
    outcome.p_value = {0.012, kNaN, kNaN};
    outcome.verdict.resize(3);
    outcome.reason.resize(3);
    outcome.decide(0, {Verdict::kKeep, reasons::kNone});
    outcome.decide(1, {Verdict::kDrop, reasons::kCut});
    outcome.decide(2, {Verdict::kUndecided, reasons::kUnscored});
    outcome.problems = {{2, "a bad text"}};
  }
};

// In the order in which they are written.
std::vector<std::string> written_names(std::string_view members) {
  std::vector<std::string> names;
  const auto object = nlohmann::ordered_json::parse("{" + std::string(members));
  for (const auto& member : object.items()) names.push_back(member.key());
  return names;
}

TEST_CASE("Each pair has a message with its id, decision, score, time and problem") {
  const ScoredPairs pairs;
  const FeedMessages messages(pairs.request, pairs.outcome, false, 0.25);
  REQUIRE(messages.size() == 3);
  CHECK(object_of(messages[0]) == nlohmann::json::parse(R"({
    "id": "m-1", "percentile": 0.61, "p_value": 0.012, "decision": "keep", "reason": null,
    "score": 1.83, "model": 17, "epoch": 0, "time": 1700000000.5, "delay": 0.25})"));
  CHECK(object_of(messages[1]) == nlohmann::json::parse(R"({
    "decision": "drop", "reason": "cut", "score": 0.5, "model": 17, "epoch": 0, "time": 1700000001.0, "delay": 0.25})"));
  CHECK(object_of(messages[2]) == nlohmann::json::parse(R"({
    "id": 7, "decision": "undecided", "reason": "unscored", "score": null, "model": 17, "epoch": 0,
    "time": -1.0, "delay": 0.25, "problem": "a bad text"})"));
}

TEST_CASE("What can be compared between models comes before the score") {
  const ScoredPairs pairs;
  const FeedMessages messages(pairs.request, pairs.outcome, true, 0.25);
  REQUIRE(messages.size() == 3);
  CHECK(written_names(messages[0]) ==
        std::vector<std::string>{"id", "percentile", "p_value", "decision", "reason", "score",
                                 "model", "epoch", "time", "delay", "x", "y"});
  CHECK(written_names(messages[2]) == std::vector<std::string>{"id", "decision", "reason", "score",
                                                               "model", "epoch", "time", "delay",
                                                               "problem", "x", "y"});
}

TEST_CASE("Texts are there if they are wanted, and where there are any") {
  ScoredPairs pairs;
  const FeedMessages messages(pairs.request, pairs.outcome, true, 0);
  CHECK(object_of(messages[0])["x"] == "how are \"you\"");
  CHECK(object_of(messages[0])["y"] == "fine");
  pairs.request.pairs = {};
  pairs.request.pairs.are_vectors = true;
  pairs.request.pairs.x_rows = pairs.request.pairs.y_rows = 3;
  const FeedMessages vectors(pairs.request, pairs.outcome, true, 0);
  REQUIRE(vectors.size() == 3);
  CHECK_FALSE(object_of(vectors[0]).contains("x"));
  CHECK(object_of(vectors[0])["time"] == 1700000001.0);
}

TEST_CASE("Of no pairs there are no messages") {
  CHECK(FeedMessages(Request(), Outcome(), true, 0).size() == 0);
}

TEST_CASE("Events have their members") {
  const auto json = [](StreamEvent event) { return object_of(event_json(event)); };
  const auto refresh = json(RefreshEvent{std::make_shared<const PublishedModel>(), 5120});
  CHECK(refresh["event"] == "refresh");
  CHECK(refresh["model"] == 0);
  CHECK(refresh["pairs"] == 5120);
  CHECK(json(DriftEvent{0.001, 64, 3, 1}) == nlohmann::json::parse(R"({
    "event": "drift", "p_value": 0.001, "pairs": 64, "model": 3, "epoch": 1})"));
  CHECK(json(FailureEvent{"a \"b\""}) ==
        nlohmann::json::parse(R"({"event": "failure", "message": "a \"b\""})"));
  CHECK(json(OverloadEvent{5}) ==
        nlohmann::json::parse(R"({"event": "overload", "overloaded": 5, "shed": 5})"));
  CHECK(json(StateEvent{false, std::nullopt, "full"}) ==
        nlohmann::json::parse(R"({"event": "state", "keeping": false, "message": "full"})"));
  CHECK(json(StateEvent{true, 9, "long"}) ==
        nlohmann::json::parse(
            R"({"event": "state", "keeping": true, "log_bytes": 9, "message": "long"})"));
}

}  // namespace
}  // namespace phsic::test
