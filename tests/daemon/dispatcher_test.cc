// Starts threads: those of streams.
#include "daemon/dispatcher.h"

#include <boost/asio/io_context.hpp>
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/daemon/fake_caller.h"
#include "tests/daemon/fake_stream.h"
#include "tests/daemon/stage_scene.h"

namespace phsic::test {
namespace {

// A daemon's dispatcher with streams that are fakes.
struct Scene {
  boost::asio::io_context loop;
  FeedLog feed;
  Registry registry{loop, feed};
  int answered = 0;  // by the daemon itself
  Dispatcher dispatcher{registry, [this](const Request&, Outcome&) { ++answered; }};
  std::shared_ptr<FakeCaller> caller = std::make_shared<FakeCaller>();
  std::vector<FakeStream*> streams;

  ~Scene() {
    registry.close([] {});
    registry.clear();
  }

  void start(const std::string& name, Registry::Streams& started) {
    StreamSettings settings;
    settings.name = name;
    settings.decide.set("rules", "none");
    settings.decide.set("duplicates", "learn");
    auto stream = std::make_unique<FakeStream>();
    streams.push_back(stream.get());
    registry.start(settings, {{std::move(stream), Recovery(10)}, nullptr, {}}, started);
  }
  void add(const std::string& name) {
    Registry::Streams started;
    start(name, started);
    registry.add(started);
  }
  [[nodiscard]] std::shared_ptr<Task> task(Operation operation, const std::string& stream = "",
                                           const std::string& text = "a") const {
    auto request = request_of(operation, {text});
    request.stream = stream;
    return std::make_shared<Task>(std::move(request), lent(caller));
  }
  [[nodiscard]] std::string error_code(const Task& task) const {
    caller->wait_for(task);
    return task.outcome.error ? task.outcome.error->code() : "";
  }
};

TEST_CASE("Before the start is over pings are answered, and all else waits and is then served") {
  Scene scene;
  const auto ping = scene.task(Operation::kPing);
  scene.dispatcher.serve(ping);
  CHECK(scene.caller->is_done(*ping));
  const auto score = scene.task(Operation::kScore, "a");
  const auto lost = scene.task(Operation::kScore, "nowhere");
  const auto stats = scene.task(Operation::kStats);
  for (const auto& task : {score, lost, stats}) {
    scene.dispatcher.serve(task);
    CHECK_FALSE(scene.caller->is_done(*task));
  }
  scene.add("a");
  scene.dispatcher.begin_serving();
  CHECK(scene.error_code(*score).empty());
  CHECK(score->outcome.score == std::vector<double>{1});
  CHECK(scene.error_code(*lost) == "unknown_stream");
  CHECK(scene.caller->is_done(*stats));
  CHECK(scene.answered == 2);
}

TEST_CASE("Only so much waits for the start, in requests and in bytes") {
  Scene scene;
  std::size_t kept = 0;
  const auto bytes = GENERATE(std::size_t{1}, std::size_t{8U << 20U});
  const auto fill = [&] {
    for (;; ++kept) {
      REQUIRE(kept <= 1024);
      scene.dispatcher.serve(scene.task(Operation::kScore, "a", std::string(bytes, 'x')));
    }
  };
  CHECK_THROWS_WITH(fill(), Catch::Contains("has not started"));
  CHECK(kept == (bytes == 1 ? 1024 : 7));
  scene.dispatcher.stop_serving();
  CHECK(scene.caller->done_count() == kept);
}

TEST_CASE("A request without a stream goes to the only one, and lists them if there are several") {
  Scene scene;
  scene.add("a");
  scene.dispatcher.begin_serving();
  const auto alone = scene.task(Operation::kScore);
  scene.dispatcher.serve(alone);
  CHECK(scene.error_code(*alone).empty());
  scene.add("b");
  CHECK_THROWS_WITH(scene.dispatcher.serve(scene.task(Operation::kScore)),
                    "no stream is named, expected one of a, b");
  CHECK_THROWS_WITH(scene.dispatcher.serve(scene.task(Operation::kScore, "c")),
                    "there is no stream \"c\", expected one of a, b");
}

TEST_CASE("Each stream gets what is sent to it") {
  Scene scene;
  scene.add("a");
  scene.add("b");
  scene.dispatcher.begin_serving();
  for (const auto* name : {"a", "b", "b"}) {
    const auto task = scene.task(Operation::kLearn, name);
    task->request.waits = true;
    scene.dispatcher.serve(task);
    CHECK(scene.error_code(*task).empty());
  }
  CHECK(scene.registry.find("a").statistics().pairs == 1);
  CHECK(scene.registry.find("b").statistics().pairs == 2);
}

TEST_CASE(
    "When the daemon ends requests are told so, and sources still bring what they have read") {
  Scene scene;
  scene.add("a");
  scene.dispatcher.begin_serving();
  scene.dispatcher.stop_serving();
  const auto task = scene.task(Operation::kScore, "a");
  scene.dispatcher.serve(task);
  CHECK(scene.error_code(*task) == "shutting_down");
  const auto source = std::make_shared<FakeCaller>("source", FakeCaller::Kind::kSource);
  auto request = request_of(Operation::kLearn, {"a"});
  request.stream = "a";
  const auto brought = std::make_shared<Task>(std::move(request), lent(source));
  scene.dispatcher.take_in_at_last(brought);
  source->wait_for(*brought);
  CHECK(scene.registry.find("a").statistics().pairs == 1);
}

TEST_CASE("When the start is broken off all requests but pings are told that the daemon ends") {
  Scene scene;
  const auto early = scene.task(Operation::kScore, "a");
  scene.dispatcher.serve(early);
  scene.dispatcher.stop_serving();
  CHECK(scene.error_code(*early) == "shutting_down");
  for (const auto operation : {Operation::kScore, Operation::kStats, Operation::kStreams}) {
    const auto late = scene.task(operation, "a");
    scene.dispatcher.serve(late);
    CHECK(scene.error_code(*late) == "shutting_down");
  }
  const auto ping = scene.task(Operation::kPing);
  scene.dispatcher.serve(ping);
  CHECK(scene.error_code(*ping).empty());
  CHECK(scene.answered == 1);
}

TEST_CASE("The latency of a stream counts what it has served, and not what was turned away") {
  Scene scene;
  scene.add("a");
  scene.dispatcher.begin_serving();
  const auto longest = [&] { return scene.registry.find("a").statistics().latency.max; };
  const auto refused = scene.task(Operation::kScore, "a");
  refused->outcome.error.emplace("overloaded", "too much to do");
  scene.dispatcher.note_answer(*refused);
  scene.dispatcher.note_answer(*scene.task(Operation::kPing));
  scene.dispatcher.note_answer(*scene.task(Operation::kScore, "nowhere"));
  CHECK(longest() == 0);
  scene.dispatcher.note_answer(*scene.task(Operation::kScore));
  CHECK(longest() > 0);
}

TEST_CASE("Streams that were started are served together, or end unheard of") {
  Scene scene;
  {
    Registry::Streams started;
    scene.start("a", started);
    scene.start("b", started);
    CHECK(scene.registry.all().empty());
  }
  scene.loop.poll();
  // Their ends are not taken for those of streams that were served.
  scene.add("c");
  bool is_closed = false;
  scene.registry.close([&] { is_closed = true; });
  CHECK_FALSE(scene.registry.is_closed());
  scene.loop.restart();
  const auto work = boost::asio::make_work_guard(scene.loop);
  while (!is_closed) scene.loop.run_one();
  CHECK(scene.registry.is_closed());
}

}  // namespace
}  // namespace phsic::test
