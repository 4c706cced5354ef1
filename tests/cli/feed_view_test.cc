#include "cli/client/feed_view.h"

#include <fmt/format.h>

#include <catch2/catch.hpp>

namespace phsic::test {
namespace {

using Catch::Contains;
using Catch::StartsWith;

bool wants(const FeedFilter& filter, std::string_view topic, std::string_view message) {
  return filter.wants(topic, Message(message).root());
}

std::string look(GapFinder& gaps, std::string_view topic, std::uint64_t seq) {
  return gaps.look(topic, Message(fmt::format(R"({{"seq":{}}})", seq)).root());
}

std::string describe(std::string_view topic, std::string_view message) {
  return describe_feed(topic, Message(message).root());
}

TEST_CASE("Topics are chosen by what follows the stream's name") {
  FeedFilter filter;
  CHECK(filter.wants_topic("chat/score"));
  filter.topics = {"flag", "event"};
  CHECK(filter.wants_topic("a/b/flag"));
  CHECK(filter.wants_topic("chat/event"));
  CHECK_FALSE(filter.wants_topic("flag/score"));
}

TEST_CASE("Scores, percentiles and p-values are held against their limits, events are not") {
  FeedFilter filter;
  filter.below = 2;
  filter.above = 1;
  CHECK(wants(filter, "c/score", R"({"score":1.5})"));
  CHECK_FALSE(wants(filter, "c/score", R"({"score":1})"));
  CHECK_FALSE(wants(filter, "c/flag", R"({"score":2})"));
  CHECK_FALSE(wants(filter, "c/score", R"({"score":null})"));
  CHECK(wants(filter, "c/event", R"({"event":"drift"})"));
  FeedFilter by_p;
  by_p.max_p = 0.05;
  CHECK(wants(by_p, "c/score", R"({"score":1,"p_value":0.05})"));
  CHECK_FALSE(wants(by_p, "c/score", R"({"score":1,"p_value":0.06})"));
  CHECK_FALSE(wants(by_p, "c/score", R"({"score":1})"));
  FeedFilter by_percentile;
  by_percentile.min_percentile = 0.1;
  by_percentile.max_percentile = 0.2;
  CHECK(wants(by_percentile, "c/score", R"({"percentile":0.1})"));
  CHECK(wants(by_percentile, "c/score", R"({"percentile":0.2})"));
  CHECK_FALSE(wants(by_percentile, "c/score", R"({"percentile":0.09})"));
  CHECK_FALSE(wants(by_percentile, "c/score", R"({"percentile":0.21})"));
  CHECK_FALSE(wants(by_percentile, "c/score", R"({"percentile":null})"));
  CHECK(wants(by_percentile, "c/event", R"({"event":"drift"})"));
}

TEST_CASE("Numbers that are missing are messages that were lost, of each topic by itself") {
  GapFinder gaps;
  CHECK(look(gaps, "a/score", 40).empty());
  CHECK(look(gaps, "a/score", 41).empty());
  CHECK(look(gaps, "a/event", 7).empty());
  CHECK(look(gaps, "a/score", 44) == "-- 2 messages of a/score lost");
  CHECK(look(gaps, "a/score", 46) == "-- 1 message of a/score lost");
  CHECK(look(gaps, "a/event", 8).empty());
  CHECK(gaps.lost() == 3);
  // After a crash the daemon goes on with far greater numbers, and it is not known how many
  // messages were lost.
  CHECK(look(gaps, "a/event", 9 + (1ULL << 32U)) == "-- a/event goes on after a crash");
  CHECK(look(gaps, "a/event", 11 + (1ULL << 32U)) == "-- 1 message of a/event lost");
  CHECK(gaps.lost() == 4);
  CHECK(look(gaps, "a/score", 1) == "-- a/score begins anew");
  CHECK(look(gaps, "a/score", 2).empty());
  CHECK(gaps.look("a/score", Message("{}").root()).empty());
}

TEST_CASE("A score is shown on one line with all that came with it") {
  const auto line = describe("chat/score", R"({"seq":7,"id":"m-1","score":1.83,"percentile":0.61,
      "p_value":0.012,"time":1700000000.5,"x":"how\n\u001b[2J","y":"fine"})");
  CHECK_THAT(line, Contains("22:13:20.500") && Contains("chat/score") && Contains("1.8300") &&
                       Contains("p 0.012") && Contains("61.0%") && Contains("m-1") &&
                       Contains(R"("how??[2J" | "fine")"));
  CHECK_THAT(line, !Contains("\n") && !Contains("\x1b"));
  CHECK(line.find("61.0%") < line.find("p 0.012"));
  CHECK(line.find("p 0.012") < line.find("1.8300"));
  CHECK_THAT(describe("chat/score", R"({"score":null,"problem":"x: no numbers"})"),
             Contains("x: no numbers"));
}

TEST_CASE("An event is shown with its members") {
  CHECK_THAT(describe("chat/event", R"({"seq":3,"event":"refresh","model":18,"self_auc":0.93})"),
             Contains("refresh model=18 self_auc=0.93") && !Contains("seq"));
}

TEST_CASE("What has two names in a message is shown by one of them") {
  CHECK_THAT(describe("c/event", R"({"event":"overload","overloaded":5,"shed":5})"),
             Contains("overload overloaded=5") && !Contains("shed"));
  CHECK_THAT(describe("c/event", R"({"event":"overload","shed":5})"), Contains("overload shed=5"));
}

TEST_CASE("A time beyond all calendars is shown as seconds") {
  const auto line_at = [](const char* time) {
    return describe("c/score", fmt::format(R"({{"score":1,"time":{}}})", time));
  };
  CHECK_THAT(line_at("1e11"), StartsWith("100000000000.000 c/score "));
  CHECK_THAT(line_at("-1e18"), StartsWith("-1000000000000000000.000 c/score "));
  CHECK_THAT(line_at("1e300"), StartsWith("1000000") && Contains(".000 c/score "));
  CHECK_THAT(line_at("99999999999"), StartsWith("09:46:39.000 c/score "));
}

TEST_CASE("A message names its pair by an id or by texts, and an event is about none") {
  const auto is_named = [](std::string_view topic, std::string_view message) {
    return names_its_pair(topic, Message(message).root());
  };
  CHECK(is_named("c/score", R"({"score":1,"id":0})"));
  CHECK(is_named("c/flag", R"({"score":1,"x":"","y":""})"));
  CHECK_FALSE(is_named("c/flag", R"({"score":1,"id":null})"));
  CHECK(is_named("c/event", R"({"event":"drift"})"));
}

TEST_CASE("A pair that is not kept is shown with the reason") {
  const auto line = describe(
      "c/flag", R"({"percentile":0.3,"p_value":0.0016,"decision":"drop","reason":"no_identical",
                    "score":12.8,"id":"m-1"})");
  CHECK_THAT(line, Catch::Contains("no_identical"));
  CHECK(line.find("no_identical") < line.find("m-1"));
  CHECK_THAT(describe("c/score", R"({"decision":"keep","reason":null,"score":1})"),
             !Catch::Contains("keep") && !Catch::Contains("null"));
}

}  // namespace
}  // namespace phsic::test
