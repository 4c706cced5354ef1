#include "daemon/serving/feed_log.h"

#include <catch2/catch.hpp>
#include <limits>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "state/feed_numbers.h"
#include "tests/daemon/fake_sink.h"

namespace phsic::test {
namespace {

using Numbers = std::vector<std::uint64_t>;

// Pairs of which some are flagged.
ScoredPairs scored(std::vector<std::uint8_t> flagged) {
  const std::vector<double> none(flagged.size(), std::numeric_limits<double>::quiet_NaN());
  Request request;
  request.pairs.x.resize(flagged.size(), "x");
  request.pairs.y.resize(flagged.size(), "y");
  Outcome outcome;
  outcome.score.assign(flagged.size(), 0.5);
  outcome.verdict.assign(flagged.size(), static_cast<std::uint8_t>(Verdict::kKeep));
  outcome.reason.assign(flagged.size(), reasons::kNone);
  outcome.percentile = none;
  outcome.p_value = none;
  outcome.published = std::make_shared<PublishedModel>();
  return {FeedMessages(request, outcome, false, 0), std::move(flagged), {}};
}

// What is reserved of each topic, as the state would have it.
using Reserved = std::map<std::string, std::uint64_t>;

FeedLog::Reserve into(Reserved& reserved) {
  return [&](const std::string& topic, std::uint64_t last) { reserved[topic] = last; };
}

TEST_CASE("Scores, flags and events have numbers of their own, from 1 on") {
  FeedLog feed;
  FakeSink sink({"a/score", "a/flag", "a/event", "b/score"});
  feed.add(sink);
  feed.publish("a", scored({false, true, false}));
  feed.publish("b", scored({false}));
  feed.publish("a", OverloadEvent{5});
  feed.publish("a", scored({true}));
  CHECK(sink.numbers("a/score") == Numbers{1, 2, 3, 4});
  CHECK(sink.numbers("a/flag") == Numbers{1, 2});
  CHECK(sink.numbers("a/event") == Numbers{1});
  CHECK(sink.numbers("b/score") == Numbers{1});
}

TEST_CASE("A message has the daemons that its pair came through, this one last") {
  FeedLog feed;
  FakeSink sink({"a/score"});
  feed.add(sink);
  auto pairs = scored({false});
  pairs.via = {"first", "second"};
  feed.publish("a", pairs);
  REQUIRE(sink.published.size() == 1);
  CHECK(sink.published[0].second["via"] == nlohmann::json({"first", "second", feed.name()}));
}

TEST_CASE("What nobody hears is counted, and so is what was never made for the feed") {
  FeedLog feed;
  FakeSink sink({});
  feed.add(sink);
  feed.publish("a", scored({true, false}));
  feed.publish("a", OverloadEvent{1});
  CHECK(sink.published.empty());
  sink.topics = {"a/score", "a/flag", "a/event"};
  feed.pass_over("a", 5, 3);
  CHECK(sink.published.empty());
  feed.publish("a", scored({true}));
  feed.publish("a", OverloadEvent{1});
  CHECK(sink.numbers("a/score") == Numbers{8});
  CHECK(sink.numbers("a/flag") == Numbers{5});
  CHECK(sink.numbers("a/event") == Numbers{2});
}

TEST_CASE("Numbers of a stream that was forgotten are not kept any more") {
  FeedLog feed;
  Reserved reserved;
  feed.keep(into(reserved));
  feed.go_on("a", {});
  feed.go_on("b", {{"b/score", 7}});
  feed.forget("a");
  feed.settle();
  CHECK(reserved == Reserved{{"b/score", 7}, {"b/flag", 0}, {"b/event", 0}});
}

TEST_CASE("All sinks get the same message") {
  FeedLog feed;
  FakeSink one({"a/score"});
  FakeSink two({"a/score"});
  CHECK_FALSE(feed.has_audience("a/score"));
  feed.add(one);
  feed.add(two);
  CHECK(feed.has_audience("a/score"));
  CHECK_FALSE(feed.has_audience("a/flag"));
  feed.publish("a", scored({false, false}));
  CHECK(one.published.size() == 2);
  CHECK(one.published == two.published);
}

TEST_CASE("Numbers continue after the last ones, and none is given that is not reserved") {
  Reserved reserved;
  FeedLog feed;
  FakeSink sink({"a/score"});
  feed.add(sink);
  feed.keep(into(reserved));
  feed.go_on("a", {{"a/score", 1000}});
  // The opening of the stream has reserved the next kReserved numbers.
  feed.publish("a", scored({false}));
  CHECK(sink.numbers("a/score") == Numbers{1001});
  CHECK(reserved.empty());
  feed.go_on("a", {{"a/score", 1001}, {"a/flag", 7}});
  feed.reserve_all();
  CHECK(reserved ==
        Reserved{{"a/event", kReserved}, {"a/flag", 7 + kReserved}, {"a/score", 1001 + kReserved}});
}

TEST_CASE("A topic that nothing was reserved for is reserved with its first number") {
  Reserved reserved;
  FeedLog feed;
  feed.keep(into(reserved));
  feed.publish("a", OverloadEvent{1});
  CHECK(reserved == Reserved{{"a/event", 1 + kReserved}});
  feed.publish("a", OverloadEvent{1});
  CHECK(reserved == Reserved{{"a/event", 1 + kReserved}});
}

TEST_CASE("Numbers of what nobody hears are reserved, too") {
  Reserved reserved;
  FeedLog feed;
  feed.keep(into(reserved));
  feed.go_on("a", {});
  feed.pass_over("a", kReserved / 2 - 1, 1);
  CHECK(reserved.empty());
  feed.pass_over("a", 1, 1);
  CHECK(reserved == Reserved{{"a/score", kReserved / 2 + kReserved}});
}

TEST_CASE("At the end exactly the numbers are reserved that were given") {
  Reserved reserved;
  FeedLog feed;
  feed.settle();  // there is no state, so there is nothing to do
  feed.keep(into(reserved));
  feed.go_on("a", {});
  feed.publish("a", scored({true, false}));
  feed.pass_over("a", 5, 3);
  feed.settle();
  CHECK(reserved == Reserved{{"a/event", 0}, {"a/flag", 4}, {"a/score", 7}});
}

}  // namespace
}  // namespace phsic::test
