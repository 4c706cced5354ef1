#include "wire/answer_reader.h"

#include <catch2/catch.hpp>
#include <cmath>

namespace phsic::test {
namespace {

using Catch::Contains;

struct Scores {
  std::vector<double> values;
  std::vector<PairProblem> problems;
};

Scores scores_in(std::string_view answer, std::size_t first, std::size_t count) {
  Scores scores;
  scores.values.resize(count);
  const Message message(answer);
  read_scores(message.root(), first, count, scores.values.data(), scores.problems);
  return scores;
}

std::vector<RemoteStream> streams_in(std::string_view answer) {
  return read_streams(Message(answer).root());
}

TEST_CASE("Scores come with the problems of those that have none") {
  const auto [values, problems] = scores_in(
      R"({"ok":true,"scores":[1.5,null,-2],"problems":[{"pair":1,"message":"y: bad\u0007"}]})", 10,
      3);
  CHECK(values[0] == 1.5);
  CHECK(std::isnan(values[1]));
  CHECK(values[2] == -2);
  REQUIRE(problems.size() == 1);
  CHECK(problems[0].row == 11);
  CHECK(problems[0].message == "y: bad?");
}

TEST_CASE("A score that is missing without a reason is a problem all the same") {
  const auto [values, problems] = scores_in(R"({"scores":[null]})", 4, 1);
  REQUIRE(problems.size() == 1);
  CHECK(problems[0].row == 4);
}

TEST_CASE("A problem of no pair is one of what is ranked") {
  const auto [values, problems] =
      scores_in(R"({"scores":[null,null],"problems":[{"message":"bad x"}]})", 0, 2);
  REQUIRE(problems.size() == 1);
  CHECK(problems[0].row == PairProblem::kNoRow);
}

TEST_CASE("Scores that do not fit what was asked are refused") {
  for (const char* answer :
       {R"({"ok":true})", R"({"scores":[1]})", R"({"scores":[1,2,3]})", R"({"scores":[1,"2"]})",
        R"({"scores":{"0":1}})", R"({"scores":[1,2],"problems":[{"pair":2,"message":""}]})",
        R"({"scores":[1,2],"problems":[{"pair":-1,"message":""}]})",
        R"({"scores":[1,2],"problems":[{"pair":0}]})", R"({"scores":[1,2],"problems":[3]})",
        R"({"scores":[1,2],"problems":1})"}) {
    CAPTURE(answer);
    CHECK_THROWS_WITH(scores_in(answer, 0, 2), Contains("expected"));
  }
}

TEST_CASE("What is no JSON object is refused") {
  for (const char* answer : {"", "[]", "1", "{", "{\"a\":\xff}", R"({"a":1}x)", "\x1b[2J"}) {
    CAPTURE(answer);
    CHECK_THROWS_WITH(Message(answer), Contains("expected") && !Contains("\x1b"));
  }
  CHECK_THROWS_AS(Message(std::string(100'000, '[')), Error);
}

TEST_CASE("A refusal has its code and what the daemon said") {
  const Message message(
      R"({"ok":false,"id":4,"error":{"code":"overloaded","message":"queue full"}})");
  const auto refused = refusal(message.root(), "tcp://a:1");
  REQUIRE(refused.has_value());
  CHECK(refused->code() == "overloaded");
  CHECK(std::string(refused->what()) == "tcp://a:1: overloaded: queue full");
  CHECK_FALSE(refusal(Message(R"({"ok":true})").root(), "").has_value());
  CHECK_THROWS_AS(refusal(Message(R"({})").root(), ""), Error);
  CHECK_THROWS_AS(refusal(Message(R"({"ok":false,"error":"no"})").root(), ""), Error);
}

TEST_CASE(
    "What a stream suffers from is read with its shares, and no more kinds than there can be") {
  const Message message(R"({"pairs":12,"junk_share":0.5,"quality_trusted":false,
      "damage":{"mismatched":0.375,"glued":0.125}})");
  const auto facts = read_facts(message.root());
  REQUIRE(facts.damage);
  CHECK(facts.damage->junk_share == 0.5);
  CHECK_FALSE(facts.damage->is_trusted());
  REQUIRE(facts.damage->kinds.size() == 2);
  CHECK(facts.damage->kinds[0] == std::pair<std::string, double>("mismatched", 0.375));
  CHECK_FALSE(read_facts(Message(R"({"pairs":12})").root()).damage);
  std::string many = R"({"pairs":12,"junk_share":0.5,"damage":{"k":0)";
  for (int k = 0; k < 64; ++k) many += ",\"k" + std::to_string(k) + "\":0";
  CHECK_THROWS_WITH(read_facts(Message(many + "}}").root()), Contains("64 at most"));
}

TEST_CASE("Views of a stream are what stats has, and no more of them than a stream can have") {
  const Message message(R"({"pairs":12,"view_weights":{"hashing":0.75,"words":0.25},
      "view_self_aucs":{"hashing":0.875}})");
  const auto views = read_facts(message.root()).views;
  REQUIRE(views.size() == 2);
  CHECK(views[0].name == "hashing");
  CHECK(views[0].weight == 0.75);
  REQUIRE(views[0].accuracy.has_value());
  CHECK(views[0].accuracy->auc == 0.875);
  CHECK(views[1].weight == 0.25);
  CHECK_FALSE(views[1].accuracy.has_value());
  const Message many(R"({"pairs":12,"view_weights":{"a":1,"b":0,"c":0,"d":0,"e":0,"f":0,"g":0,
      "h":0,"i":0}})");
  CHECK_THROWS_WITH(read_facts(many.root()), Contains("9 views") && Contains("8 at most"));
  CHECK(read_facts(Message(R"({"pairs":0})").root()).views.empty());
}

TEST_CASE("Facts of a stream are what stats has, and what is not known is not there") {
  const Message message(R"({"streams":{"chat":{"pairs":12,"estimator":"phsic","self_auc":0.75,
      "self_mrr":0.5,"hsic":0.01,"cka":null}}})");
  for (const char* name : {"chat", ""}) {
    const auto facts = read_facts(stats_of_stream(message.root(), name));
    CHECK(facts.pairs == 12);
    CHECK(facts.estimator == "phsic");
    CHECK(facts.ridge == 0);
    REQUIRE(facts.accuracy.has_value());
    CHECK(facts.accuracy->mrr == 0.5);
    REQUIRE(facts.dependence.has_value());
    CHECK_FALSE(facts.dependence->cka.has_value());
  }
  CHECK_THROWS_AS(stats_of_stream(message.root(), "other"), Error);
  CHECK_THROWS_AS(stats_of_stream(Message(R"({"streams":{}})").root(), ""), Error);
  CHECK_FALSE(read_facts(Message(R"({"pairs":0})").root()).accuracy.has_value());
}

TEST_CASE("A calibration is that of the stream, or empty") {
  const Message message(R"({"calibration":{"matched":[1,2],"null":[0,1.5]}})");
  CHECK(read_calibration(message.root(), message.root()).matched() == std::vector<double>{1, 2});
  const Message none("{}");
  CHECK(read_calibration(none.root(), none.root()).is_empty());
  CHECK(read_calibration(message.root(), none.root()).null().size() == 2);
  const Message bad(R"({"calibration":{"matched":[1,null],"null":[]}})");
  CHECK_THROWS_AS(read_calibration(bad.root(), bad.root()), Error);
}

TEST_CASE("A stream is chosen by name, or because it is the only one") {
  const auto one =
      streams_in(R"({"streams":[{"name":"a","options":{"rank":3,"kernel":"linear"}}]})");
  CHECK(choose_stream(one, "", "e").name == "a");
  CHECK(one[0].options == decltype(one[0].options){{"rank", "3"}, {"kernel", "linear"}});
  const auto two = streams_in(R"({"streams":[{"name":"a"},{"name":"b","pairs":7}]})");
  CHECK(choose_stream(two, "b", "e").pairs == 7);
  CHECK_THROWS_WITH(choose_stream(two, "", "e"), Contains("a, b"));
  CHECK_THROWS_WITH(choose_stream(two, "c", "e"), Contains("found c") && Contains("a, b"));
  CHECK_THROWS_AS(streams_in(R"({"streams":[{}]})"), Error);
}

TEST_CASE("A daemon's limits hold for requests, within those of the command") {
  const auto limits_in = [](const char* json) { return read_limits(Message(json).root()); };
  CHECK(limits_in("{}").pairs == kRequestPairs);
  CHECK(limits_in("{}").bytes == kMostBytes);
  const auto lower = limits_in(R"({"limits":{"request_pairs":7,"message_bytes":16384}})");
  CHECK(lower.pairs == 7);
  CHECK(lower.bytes == 12288);
  const auto absurd = limits_in(R"({"limits":{"request_pairs":0,"message_bytes":3}})");
  CHECK(absurd.pairs == 1);
  CHECK(absurd.bytes == 2);
  CHECK(limits_in(R"({"limits":{"request_pairs":1000000}})").pairs == kRequestPairs);
}

TEST_CASE("An answer is printed without what belongs to the exchange") {
  const Message message(R"({"ok":true, "id":3, "a":[1, {"b\n":"c"}],"n\"":0.1})");
  CHECK(message.answer() == R"({"a":[1,{"b\n":"c"}],"n\"":0.1})");
  CHECK(Message("{}").answer() == "{}");
}

TEST_CASE("Endpoints are those of the socket") {
  const Message message(R"({"endpoints":{"feed":["tcp://*:1","ipc:///x"]}})");
  CHECK(read_endpoints(message.root(), "feed") ==
        std::vector<std::string>{"tcp://*:1", "ipc:///x"});
  CHECK(read_endpoints(message.root(), "ingest").empty());
  CHECK_THROWS_AS(read_endpoints(Message(R"({"endpoints":{"feed":[1]}})").root(), "feed"), Error);
}

}  // namespace
}  // namespace phsic::test
