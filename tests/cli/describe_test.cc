// What the verbs that ask a daemon print.
#include <catch2/catch.hpp>

#include "cli/verbs/ask.h"
#include "cli/verbs/explain.h"
#include "cli/verbs/stats_table.h"
#include "cli/verbs/top.h"
#include "core/error.h"

namespace phsic::test {
namespace {

using Catch::Contains;
using Catch::EndsWith;

TEST_CASE("Columns are aligned by what is seen of them") {
  CHECK(align({{"", "a"}, {"näme", "12"}, {"n", ""}, {"longer"}}) ==
        "         a\nnäme    12\nn\nlonger\n");
}

TEST_CASE("Stats have a row for each member and a column for each stream") {
  const Message message(R"({"streams":{
      "a":{"pairs":5,"latency":{"p50":0.0012,"max":61},"queue_bytes":1536},
      "b":{"pairs":7,"estimator":"phsic"}},
      "daemon":{"uptime":7500,"memory":10485760,"version":"1"}})");
  CHECK(describe_stats(message.root()) ==
        "                      a      b\n"
        "pairs                 5      7\n"
        "latency p50      1.2 ms      -\n"
        "latency max  1 min 01 s      -\n"
        "queue_bytes     1.5 KiB      -\n"
        "estimator             -  phsic\n"
        "\n"
        "             daemon\n"
        "uptime   2 h 05 min\n"
        "memory     10.0 MiB\n"
        "version           1\n");
  CHECK_THROWS_AS(describe_stats(Message(R"({"streams":{"a":1}})").root()), Error);
}

TEST_CASE("A number has the unit of its statistic, also inside the state and in an answer") {
  const Message stats(R"({"streams":{},"daemon":{
      "state":{"commits":1536,"bytes":1536,"log_bytes":10485760}}})");
  CHECK(describe_stats(stats.root()) ==
        "\n"
        "\n"
        "                   daemon\n"
        "state commits        1536\n"
        "state bytes       1.5 KiB\n"
        "state log_bytes  10.0 MiB\n");
  const Message snapshot(R"({"ok":true,"pairs":1536,"bytes":1536})");
  CHECK(describe_members(snapshot.root()) == "pairs     1536\nbytes  1.5 KiB\n");
  const Message refresh(R"({"ok":true,"model":18,"refresh_seconds":0.31})");
  CHECK(describe_members(refresh.root()) == "model                18\nrefresh_seconds  310 ms\n");
}

TEST_CASE("The rates of top are what has been added between two looks") {
  const Message before(R"({"streams":{"a":{"scored":100,"pairs":50}}})");
  const Message now(R"({"streams":{"a":{"scored":300,"pairs":60,"latency":{"p50":0.001}},
      "new":{"scored":9}},"daemon":{"version":"0.1.0"}})");
  const auto text = describe_top(before.root(), now.root(), 2);
  CHECK_THAT(text, Contains("phsicd 0.1.0"));
  CHECK_THAT(text, Catch::Matches(R"((.|\n)*a +100\.0 +5\.0 +1\.00 +- +- +60(.|\n)*)"));
  CHECK_THAT(text, Catch::Matches(R"((.|\n)*new +- +-(.|\n)*)"));
  // It began anew in between.
  CHECK_THAT(describe_top(now.root(), before.root(), 2),
             Catch::Matches(R"((.|\n)*a +- +-(.|\n)*)"));
}

TEST_CASE("Rates are followed by how much each view of a stream counts") {
  const Message one(R"({"streams":{"a":{"pairs":60}}})");
  CHECK_THAT(describe_top(one.root(), one.root(), 2), !Contains("weight"));
  const Message several(R"({"streams":{"a":{"pairs":60},"b":{"view_weights":{"grams":0,"words":1},
      "view_self_aucs":{"words":0.87654}}}})");
  CHECK_THAT(describe_top(several.root(), several.root(), 2),
             EndsWith("stream   view  weight  self-AUC\n"
                      "b       grams    0.00         -\n"
                      "b       words    1.00     0.877\n"));
}

TEST_CASE("An explanation lists what raises and what lowers a score") {
  const Message message(R"({"score":1.83,"rest":-0.2,"model":17,
      "raise":[{"contribution":0.31,"x":"how do you do","y":"fine","number":8123}],"lower":[]})");
  CHECK(describe_explanation(message.root()) ==
        "score 1.8300, model 17, -0.2000 of it by no learned pair\n\n"
        "raised by\n     +0.3100  \"how do you do\" | \"fine\"\n\n"
        "lowered by\n  none\n");
  CHECK_THROWS_AS(describe_explanation(Message(R"({"score":1})").root()), Error);
}

TEST_CASE("An explanation lists words, and why the judge thinks so") {
  const Message message(R"-({"score":2,"decision":"keep","reason":null,"quality":0.25,
      "damage":"cut_off(right)","expert":{"damage":"cut_off(right)","about":"the end is missing",
      "log_odds":-1.5,"components":[
        {"contribution":-0.75,"deviations":-2.5,"name":"y_words","about":"how long y is"}]},
      "words":{"x":{"count":90,"unexamined":26,
          "raise":[{"contribution":0.5,"word":"how\u001b","place":1}],
          "lower":[{"contribution":-0.25,"word":"do","place":0}]},
        "y":{"count":1,"raise":[],"lower":[]}},
      "raise":[],"lower":[]})-");
  CHECK(describe_explanation(message.root()) ==
        "score 2.0000\ndecision keep\nquality 0.25\n\n"
        "of all damage it looks most like cut_off(right): the end is missing\n"
        "     -1.5000  log odds that it is not, lowered by\n"
        "     -0.7500  y_words: how long y is, -2.50 deviations\n\n"
        "words of x\n     +0.5000  \"how?\"\n     -0.2500  \"do\"\n"
        "  26 of 90 words were not examined\n\n"
        "words of y\n  none\n\n"
        "raised by\n  none\n\nlowered by\n  none\n");
}

TEST_CASE("A dropped pair is described with the numbers of that moment, then with those of today") {
  const std::string dropped =
      R"("dropped":{"id":7,"percentile":0.01,"p_value":0.3,"decision":"drop","reason":"cut",)"
      R"("score":-0.4,"model":16,"epoch":0,"time":1.5,"x":"a","y":"b"})";
  const std::string then =
      "dropped: \"a\" | \"b\"\nscore -0.4000, model 16\npercentile 0.01\np-value 0.3\n"
      "decision drop, reason cut\n";
  CHECK(describe_explanation(Message("{" + dropped + "}").root()) == then);
  const Message now("{" + dropped + R"(,"decision":"keep","score":2,"raise":[],"lower":[]})");
  CHECK(describe_explanation(now.root()) ==
        then +
            "\nby the model in use:\nscore 2.0000\ndecision keep\n\nraised by\n  none\n\n"
            "lowered by\n  none\n");
}

TEST_CASE("What ping, streams and refresh answer is told plainly") {
  CHECK(
      describe_ping(Message(R"({"version":"0.1.0","endpoints":{"feed":["tcp://*:1"]}})").root()) ==
      "phsicd 0.1.0\n  feed     tcp://*:1\n");
  const Message starting(R"({"version":"1","endpoints":{},"starting":)"
                         R"({"doing":"recovering","stream":"c","pairs":7,"of":9}})");
  CHECK(describe_ping(starting.root()) == "phsicd 1\n  starting: recovering c, 7 of 9 pairs\n");
  const Message checking(R"({"version":"1","endpoints":{},"starting":)"
                         R"({"doing":"checking the state","pairs":0,"of":0}})");
  CHECK(describe_ping(checking.root()) == "phsicd 1\n  starting: checking the state\n");
  CHECK(describe_streams(
            Message(R"({"streams":[{"name":"c","options":{"rank":"3"},"pairs":9,"model":2}]})")
                .root()) == "c: 9 pairs learned, model 2\n  rank: 3\n");
  CHECK(describe_members(Message(R"({"ok":true,"id":1,"model":18,"self_auc":0.93})").root()) ==
        "model       18\nself_auc  0.93\n");
}

}  // namespace
}  // namespace phsic::test
