// What a stream at work tells the feed. These tests start threads: those of its lane.
#include <atomic>
#include <boost/asio/io_context.hpp>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "daemon/registry.h"
#include "tests/daemon/fake_sink.h"
#include "tests/daemon/stage_scene.h"

namespace phsic::test {
namespace {

using Numbers = std::vector<std::uint64_t>;

// A stream "a" whose encoder can be held.
struct Serving {
  Serving() {
    feed.add(sink);
    feed.keep([this](const std::string& topic, std::uint64_t last) { kept[topic] = last; });
    StreamSettings settings;
    settings.name = "a";
    settings.queue_pairs = 1;
    settings.decide.set("rules", "none");
    settings.decide.set("duplicates", "learn");
    auto stream = std::make_unique<FakeStream>();
    stream->when_encoded = [this](std::size_t) {
      has_come = true;
      has_come.notify_all();
      is_held.wait(true);
    };
    served.emplace(loop, settings, PreparedStream{{std::move(stream), Recovery(10)}, nullptr, {}},
                   feed, [this] { is_closed = true; });
  }
  // Nothing hangs when a test fails.
  ~Serving() {
    is_held = false;
    is_held.notify_all();
  }

  [[nodiscard]] std::shared_ptr<Task> task() const {
    return std::make_shared<Task>(request_of(Operation::kScore, {"x"}), lent(caller));
  }
  // So many pairs are scored, the first of them dropped.
  void score(std::size_t pairs) {
    Task task(request_of(Operation::kScore, std::vector<std::string>(pairs, "x")), lent(caller));
    make_columns(task);
    task.outcome.published = fake_model(1);
    task.outcome.decide(0, {Verdict::kDrop, reasons::kCut});
    served->scored(task);
  }
  void hear(std::set<std::string> topics) {
    sink.topics = std::move(topics);
    served->look_for_audience();
  }
  void run() {
    loop.restart();
    loop.poll();
  }
  // The last number that was given.
  [[nodiscard]] std::uint64_t last(const std::string& topic) {
    feed.settle();
    return kept[topic];
  }

  boost::asio::io_context loop;
  FeedLog feed;
  FakeSink sink{{}};
  std::map<std::string, std::uint64_t> kept;
  std::shared_ptr<FakeCaller> caller = std::make_shared<FakeCaller>();
  std::atomic<bool> has_come{false};
  std::atomic<bool> is_held{false};
  bool is_closed = false;
  std::optional<ServedStream> served;  // last: its threads end first
};

TEST_CASE("Requests that were refused are told of once, and of none nothing is told") {
  Serving scene;
  scene.hear({"a/event"});
  scene.served->tell_overload();
  CHECK(scene.sink.published.empty());

  scene.is_held = true;
  REQUIRE(scene.served->lane().offer(scene.task()));
  scene.has_come.wait(false);
  REQUIRE(scene.served->lane().offer(scene.task()));
  for (int i = 0; i < 2; ++i) CHECK_FALSE(scene.served->lane().offer(scene.task()));
  scene.served->tell_overload();
  scene.served->tell_overload();
  REQUIRE(scene.sink.published.size() == 1);
  CHECK(scene.sink.published[0].first == "a/event");
  CHECK(scene.sink.published[0].second["event"] == "overload");
  CHECK(scene.sink.published[0].second["overloaded"] == 2);

  CHECK_FALSE(scene.served->lane().offer(scene.task()));
  scene.served->tell_overload();
  REQUIRE(scene.sink.published.size() == 2);
  CHECK(scene.sink.published[1].second["overloaded"] == 1);
}

TEST_CASE("Scores that nobody hears get their numbers when they are told of, once") {
  Serving scene;
  scene.score(3);
  scene.score(2);
  scene.run();
  CHECK(scene.last("a/score") == 0);
  scene.served->tell_unheard();
  CHECK(scene.last("a/score") == 5);
  CHECK(scene.last("a/flag") == 2);
  scene.served->tell_unheard();
  CHECK(scene.last("a/score") == 5);
  CHECK(scene.sink.published.empty());
}

TEST_CASE("Scores that nobody heard have their numbers before those that somebody hears") {
  Serving scene;
  scene.score(3);
  scene.hear({"a/score", "a/flag"});
  scene.score(2);
  scene.run();
  CHECK(scene.sink.numbers("a/score") == Numbers{4, 5});
  CHECK(scene.sink.numbers("a/flag") == Numbers{2});
}

TEST_CASE("An audience that came or left counts from when it is looked for") {
  Serving scene;
  scene.sink.topics = {"a/flag"};
  scene.score(2);
  scene.run();
  CHECK(scene.sink.published.empty());
  // Of flags alone: scores are counted meanwhile.
  scene.served->look_for_audience();
  scene.score(2);
  scene.run();
  CHECK(scene.sink.numbers("a/flag") == Numbers{2});
  CHECK(scene.last("a/score") == 4);
  scene.hear({});
  scene.score(2);
  scene.run();
  CHECK(scene.last("a/score") == 4);
  scene.served->tell_unheard();
  CHECK(scene.last("a/score") == 6);
}

TEST_CASE("A stream that ends has told of all scores before it says so") {
  Serving scene;
  scene.score(3);
  scene.served->lane().close();
  while (!scene.is_closed) {
    scene.loop.restart();
    scene.loop.run_one_for(std::chrono::milliseconds(100));
  }
  CHECK(scene.last("a/score") == 3);
  CHECK(scene.last("a/flag") == 1);
}

}  // namespace
}  // namespace phsic::test
