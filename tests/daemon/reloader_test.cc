// Starts threads.
#include "daemon/reloader.h"

#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <catch2/catch.hpp>
#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "core/error.h"
#include "daemon/registry.h"
#include "daemon/serving/feed_log.h"
#include "tests/state/recorder.h"

namespace phsic::test {
namespace {

constexpr const char* kRunning = "streams: {a: {encoder: 'hashing:dim=16'}}\n";
constexpr const char* kOneMore =
    "streams: {a: {encoder: 'hashing:dim=16'}, b: {encoder: 'hashing:dim=16'}}\n";
constexpr const char* kTwoMore =
    "streams: {a: {encoder: 'hashing:dim=16'}, b: {encoder: 'hashing:dim=16'}, "
    "c: {encoder: 'hashing:dim=16'}}\n";

// A daemon's reloader, with the streams of kRunning and a state.
struct Reloading {
  Reloading() {
    reloader.begin(running);
    streams = opener.open_all(running, StartMode::kGoOn, progress);
    before = streams_in_file();
  }
  // Nothing hangs when a test fails.
  ~Reloading() {
    reloader.stop();
    release();
    reloader.join();
    loop.poll();
    adopted.clear();
    streams.clear();
    opener.close();
  }

  [[nodiscard]] Config parse(const char* yaml) const {
    return parse_config(yaml, "c.yaml", {{"state", folder.path("state.db")}});
  }
  // Reads the file anew. The reloader's thread.
  [[nodiscard]] Config reread() {
    ++reads;
    reads.notify_all();
    hold.wait(true);
    return parse(text);
  }
  void release() {
    hold = false;
    hold.notify_all();
  }
  void adopt(Config wanted, Reloader::NewStreams& added) {
    Registry::Streams started;
    if (starts_first) {
      auto& [name, first] = *added.begin();
      registry.start(wanted.streams.at(1), std::move(first), started);
    }
    if (!refusal.empty()) throw Error(refusal);
    running = std::move(wanted);
    for (auto& [name, stream] : added) adopted.emplace(name, std::move(stream));
  }
  // The loop, until so many reloads have ended.
  void run_until_ended(int count) {
    while (ended < count) REQUIRE(loop.run_one_for(std::chrono::seconds(60)) > 0);
  }
  // Names of streams, once everything that was handed in is written.
  [[nodiscard]] std::vector<std::string> streams_in_file() const {
    std::atomic<bool> is_written{false};
    streams.at(0).journal->when_kept([&](const std::string&) {
      is_written = true;
      is_written.notify_all();
    });
    is_written.wait(false);
    const StateFile file(running.state, Database::Access::kRead);
    std::vector<std::string> names;
    for (const auto& record : file.streams()) names.push_back(record.name);
    return names;
  }
  // Nothing of a reload is left.
  void check_unchanged() const {
    CHECK(adopted.empty());
    CHECK(running == parse(kRunning));
    CHECK(streams_in_file() == before);
    CHECK(reloader.taken_over() == 0);
    CHECK_FALSE(reloader.is_reloading());
  }

  StateFolder folder;
  const char* text = kRunning;  // in the file
  Config running = parse(kRunning);
  std::string refusal;            // why nothing can be taken over; empty: it can
  bool starts_first = false;      // the first new stream is at work when that is found
  std::atomic<bool> hold{false};  // the file is not read to its end
  std::atomic<int> reads{0};
  int ended = 0;
  boost::asio::io_context loop;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work{
      loop.get_executor()};
  FeedLog feed;
  Registry registry{loop, feed};
  StreamOpener opener{running, [](bool, const std::string&) {}, {}};
  StartProgress progress;
  std::vector<PreparedStream> streams;
  std::vector<std::string> before;  // streams in the state
  Reloader::NewStreams adopted;
  // As the server does it.
  Reloader reloader{
      loop,
      opener,
      progress,
      [this] { return reread(); },
      [this](Config wanted, Reloader::NewStreams& added) { adopt(std::move(wanted), added); },
      [this] {
        ++ended;
        if (reloader.is_asked_again()) reloader.reload(running);
      }};
};

TEST_CASE("A stream that the configuration has anew is opened, and handed over with its journal") {
  Reloading scene;
  scene.text = kOneMore;
  scene.reloader.reload(scene.running);
  CHECK(scene.reloader.is_reloading());
  scene.run_until_ended(1);
  CHECK_FALSE(scene.reloader.is_reloading());
  CHECK(scene.reloader.taken_over() == 1);
  CHECK(scene.reloader.refused() == 0);
  CHECK(scene.running == scene.parse(kOneMore));
  REQUIRE(scene.adopted.size() == 1);
  CHECK(scene.adopted.contains("b"));
  CHECK(scene.adopted.at("b").journal != nullptr);
  CHECK(scene.streams_in_file() == std::vector<std::string>{"a", "b"});
}

TEST_CASE("A reload that is refused leaves everything as it was, and the next one works") {
  Reloading scene;
  const char* const wrong = GENERATE(
      // No configuration.
      "streams: [",
      // A change that only a new start may make.
      "streams: {a: {encoder: 'hashing:dim=32'}, b: {encoder: 'hashing:dim=16'}}\n",
      // A stream is gone.
      "streams: {b: {encoder: 'hashing:dim=16'}}\n",
      // One of two new streams cannot be opened.
      "streams: {a: {encoder: 'hashing:dim=16'}, b: {encoder: 'hashing:dim=16'}, "
      "c: {encoder: 'vectors:file=/nowhere'}}\n");
  INFO(wrong);
  scene.text = wrong;
  scene.reloader.reload(scene.running);
  scene.run_until_ended(1);
  CHECK(scene.reloader.refused() == 1);
  scene.check_unchanged();

  scene.text = kOneMore;
  scene.reloader.reload(scene.running);
  scene.run_until_ended(2);
  CHECK(scene.reloader.taken_over() == 1);
  CHECK(scene.reloader.refused() == 1);
  CHECK(scene.adopted.contains("b"));
}

TEST_CASE("New streams that cannot be taken over leave nothing in the state") {
  Reloading scene;
  scene.text = kOneMore;
  scene.refusal = "its endpoint cannot be bound";
  scene.reloader.reload(scene.running);
  scene.run_until_ended(1);
  CHECK(scene.reloader.refused() == 1);
  scene.check_unchanged();
}

TEST_CASE("A new stream that is at work when another one cannot be started leaves nothing, too") {
  Reloading scene;
  scene.text = kTwoMore;
  scene.refusal = "there is no thread for it";
  scene.starts_first = true;
  scene.reloader.reload(scene.running);
  scene.run_until_ended(1);
  CHECK(scene.reloader.refused() == 1);
  scene.check_unchanged();

  scene.refusal.clear();
  scene.starts_first = false;
  scene.reloader.reload(scene.running);
  scene.run_until_ended(2);
  CHECK(scene.reloader.taken_over() == 1);
  CHECK(scene.adopted.size() == 2);
  CHECK(scene.streams_in_file() == std::vector<std::string>{"a", "b", "c"});
}

TEST_CASE("However often a reload is asked for during another, one more follows it") {
  Reloading scene;
  scene.hold = true;
  scene.reloader.reload(scene.running);
  scene.reads.wait(0);
  for (int i = 0; i < 3; ++i) scene.reloader.reload(scene.running);
  CHECK(scene.reloader.is_asked_again());
  CHECK(scene.reads == 1);
  scene.release();
  scene.run_until_ended(1);
  CHECK(scene.reloader.is_reloading());
  CHECK_FALSE(scene.reloader.is_asked_again());
  scene.run_until_ended(2);
  CHECK_FALSE(scene.reloader.is_reloading());
  CHECK(scene.reads == 2);
  CHECK(scene.reloader.taken_over() == 2);
}

TEST_CASE("The reload that follows another sees what that one has taken over") {
  Reloading scene;
  scene.text = kOneMore;
  scene.hold = true;
  scene.reloader.reload(scene.running);
  scene.reads.wait(0);
  scene.reloader.reload(scene.running);
  scene.release();
  // A stream that is there already is not opened again.
  scene.run_until_ended(2);
  CHECK(scene.reloader.taken_over() == 2);
  CHECK(scene.reloader.refused() == 0);
  CHECK(scene.adopted.size() == 1);
}

TEST_CASE("A reload that is asked for before the daemon has started follows the start") {
  Reloading scene;
  std::atomic<int> reads{0};
  int ended = 0;
  Reloader early(
      scene.loop, scene.opener, scene.progress,
      [&] {
        ++reads;
        return scene.parse(kRunning);
      },
      [](Config, Reloader::NewStreams&) {}, [&] { ++ended; });
  early.reload(scene.running);
  early.reload(scene.running);
  CHECK_FALSE(early.is_reloading());
  CHECK(early.is_asked_again());
  early.begin(scene.running);
  while (ended < 1) REQUIRE(scene.loop.run_one_for(std::chrono::seconds(60)) > 0);
  CHECK(reads == 1);
  CHECK(early.taken_over() == 1);
  CHECK_FALSE(early.is_asked_again());

  Reloader calm(
      scene.loop, scene.opener, scene.progress, [&] { return scene.parse(kRunning); },
      [](Config, Reloader::NewStreams&) {}, [] {});
  calm.begin(scene.running);
  CHECK_FALSE(calm.is_reloading());
}

TEST_CASE("The end of the daemon breaks off the opening of new streams") {
  Reloading scene;
  scene.text = kOneMore;
  scene.hold = true;
  scene.reloader.reload(scene.running);
  scene.reads.wait(0);
  scene.reloader.reload(scene.running);
  const auto steps = scene.progress.step().steps;
  scene.reloader.stop();
  scene.release();
  scene.run_until_ended(1);
  CHECK(scene.progress.step().steps == steps);
  CHECK(scene.reloader.refused() == 0);
  scene.check_unchanged();
  // Nor does another one follow.
  scene.reloader.reload(scene.running);
  CHECK_FALSE(scene.reloader.is_reloading());
  CHECK(scene.reads == 1);
}

TEST_CASE("New streams that are open when the daemon ends leave nothing in the state") {
  Reloading scene;
  scene.text = kOneMore;
  scene.reloader.reload(scene.running);
  scene.reloader.join();
  CHECK(scene.streams_in_file() == std::vector<std::string>{"a", "b"});
  scene.reloader.stop();
  CHECK(scene.reloader.is_reloading());
  scene.run_until_ended(1);
  CHECK(scene.reloader.refused() == 0);
  scene.check_unchanged();
}

}  // namespace
}  // namespace phsic::test
