// A stream at work when its memory ends, its learner is slow, or everybody wants the same of it.
// Starts threads.
#include "daemon/serving/lane.h"

#include <fmt/format.h>

#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <condition_variable>
#include <future>
#include <map>
#include <mutex>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "daemon/serving/fair_queue.h"
#include "tests/daemon/scripted_stream.h"

namespace phsic::test {
namespace {

// Nobody comes through while it is closed.
class Gate {
 public:
  void open() {
    is_open_ = true;
    is_open_.notify_all();
  }
  void pass() {
    ++came_;
    came_.notify_all();
    is_open_.wait(false);
  }
  // Until somebody has come.
  void await() { came_.wait(0); }

 private:
  std::atomic<bool> is_open_{false};
  std::atomic<int> came_{0};
};

// What a lane is done with.
class Inbox : public LaneListener {
 public:
  // Waits for the answer to the request of that id.
  std::shared_ptr<Job> wait_for(const std::string& id) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return jobs_.contains(id); });
    return jobs_[id];
  }
  [[nodiscard]] std::size_t answered() {
    const std::lock_guard lock(mutex_);
    return jobs_.size();
  }
  [[nodiscard]] std::string events() {
    const std::lock_guard lock(mutex_);
    return events_;
  }

  void deliver(std::shared_ptr<Job> job) override {
    {
      const std::lock_guard lock(mutex_);
      jobs_[job->id] = std::move(job);
    }
    changed_.notify_all();
  }
  void announce(Lane& /*lane*/, std::string event) override {
    const std::lock_guard lock(mutex_);
    events_ += event;
  }
  void make_way(Lane& /*lane*/) override {}
  void closed(Lane& /*lane*/) override {}

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, std::shared_ptr<Job>> jobs_;
  std::string events_;
};

// A lane with a stream that does as it is told.
struct Stage {
  explicit Stage(const char* estimator = "gaussian-pmi") {
    settings.name = "a";
    settings.refresh_seconds = 0;
    settings.spec.set("encoder", "hashing:dim=64");
    settings.spec.set("estimator", estimator);
    settings.spec.set("refresh", "100000");
  }
  // Nothing hangs when a test fails.
  ~Stage() { gate.open(); }
  void begin() {
    auto stream =
        std::make_unique<ScriptedStream>(Stream::open(settings.spec, EncoderPath()), script);
    lane = std::make_unique<Lane>(settings, std::move(stream), Recovery(settings.id_window),
                                  nullptr, inbox);
  }

  std::shared_ptr<Job> job(Operation operation) {
    auto made = std::make_shared<Job>();
    made->operation = operation;
    made->id = std::to_string(++jobs);
    made->client = "client";
    return made;
  }
  // Pairs with numbers, which are their ids, too.
  std::shared_ptr<Job> learn_batch(std::size_t first, std::size_t count, std::size_t bytes = 10) {
    auto made = job(Operation::kLearn);
    made->learns = true;
    made->waits = true;
    for (std::size_t i = first; i < first + count; ++i) {
      auto text = fmt::format("{} number{} ", i, i % 17);
      text.resize(std::max(text.size(), bytes), 'a');
      made->pairs.bytes += "x" + text + "y" + text;
      made->pairs.ids.push_back(std::to_string(i));
    }
    std::string_view rest = made->pairs.bytes;
    const auto cut = [&rest](std::size_t size) {
      const auto found = rest.substr(0, size);
      rest.remove_prefix(size);
      return found;
    };
    for (std::size_t i = 0; i < count; ++i) {
      const auto size = rest.find('y');
      made->pairs.x.push_back(cut(size));
      made->pairs.y.push_back(cut(size));
    }
    return made;
  }
  std::shared_ptr<Job> ask(const std::shared_ptr<Job>& asked) {
    REQUIRE(lane->offer(asked));
    return inbox.wait_for(asked->id);
  }
  // Waits until nothing counts that was answered: a request's bytes go when the last thread lets it
  // go.
  void settle() const {
    while (stat("unlearned_bytes") > 0) std::this_thread::yield();
  }
  // A number among those of `stats`.
  [[nodiscard]] std::uint64_t stat(const std::string& name) const {
    std::string stats;
    lane->append_stats(stats);
    const auto place = stats.find('"' + name + "\":");
    REQUIRE(place != std::string::npos);
    return std::stoull(stats.substr(place + name.size() + 3));
  }

  StreamSettings settings;
  Gate gate;
  Script script;
  Inbox inbox;
  std::size_t jobs = 0;
  std::unique_ptr<Lane> lane;  // last: its threads end first
};

bool is_ok(const Job& job) { return job.reply.starts_with("{\"ok\":true"); }

TEST_CASE(
    "Pairs that there was no memory for are not counted, and are learned when they come again") {
  std::atomic<std::size_t> memory{2};
  Stage stage("pmi");
  stage.script.memory = [&](std::size_t rows) { return std::min<std::size_t>(rows, memory); };
  stage.begin();
  const auto failed = stage.ask(stage.learn_batch(0, 5));
  CHECK_FALSE(is_ok(*failed));
  CHECK(failed->reply.find("memory") != std::string::npos);
  CHECK(stage.stat("pairs") == 2);
  stage.settle();
  CHECK(stage.stat("unlearned") == 0);
  memory = 100;
  const auto again = stage.ask(stage.learn_batch(0, 5));
  CHECK(is_ok(*again));
  CHECK(again->learned == 3);
  CHECK(again->duplicates == 2);
  CHECK(stage.stat("pairs") == 5);
  CHECK(stage.stat("unlearned") == 0);
  CHECK(stage.stat("failed") == 1);
}

TEST_CASE("A model that there is no memory for is told, and the stream goes on with the old one") {
  std::atomic<bool> has_memory{true};
  Stage stage;
  const auto need = [&] {
    if (!has_memory) throw std::bad_alloc();
  };
  const bool when_frozen = GENERATE(true, false);
  (when_frozen ? stage.script.freeze : stage.script.build) = need;
  stage.begin();
  REQUIRE(is_ok(*stage.ask(stage.learn_batch(0, 400))));
  REQUIRE(is_ok(*stage.ask(stage.job(Operation::kRefresh))));
  const auto model = stage.stat("model");
  CHECK(model == 1);
  has_memory = false;
  const auto failed = stage.ask(stage.job(Operation::kRefresh));
  CHECK_FALSE(is_ok(*failed));
  CHECK(failed->reply.find("memory") != std::string::npos);
  CHECK(stage.inbox.events().find("no model was built") != std::string::npos);
  CHECK(is_ok(*stage.ask(stage.learn_batch(400, 100))));
  CHECK(stage.stat("model") == model);
  has_memory = true;
  CHECK(is_ok(*stage.ask(stage.job(Operation::kRefresh))));
  CHECK(stage.stat("model") == model + 1);
  CHECK(stage.stat("pairs") == 500);
}

TEST_CASE("An explanation that there is no memory for is refused") {
  Stage stage;
  stage.script.explain = [] { throw std::bad_alloc(); };
  stage.begin();
  const auto pair = stage.learn_batch(0, 1);
  pair->operation = Operation::kExplain;
  pair->learns = pair->waits = false;
  const auto failed = stage.ask(pair);
  CHECK(failed->reply.find("not enough memory") != std::string::npos);
  CHECK(is_ok(*stage.ask(stage.learn_batch(0, 1))));
}

TEST_CASE("One model answers all who asked before it was begun, and learning goes on meanwhile") {
  std::atomic<int> models{0};
  Stage stage;
  stage.script.freeze = [&] { ++models; };
  stage.script.build = [&] { stage.gate.pass(); };
  stage.begin();
  REQUIRE(is_ok(*stage.ask(stage.learn_batch(0, 400))));
  stage.settle();
  std::vector<std::shared_ptr<Job>> asked;
  for (int i = 0; i < 100; ++i) {
    asked.push_back(stage.job(Operation::kRefresh));
    asked.back()->all = i % 2 == 1;
    REQUIRE(stage.lane->offer(asked.back()));
    if (i == 0) stage.gate.await();
  }
  auto learn_batch = stage.learn_batch(400, 100);
  learn_batch->waits = false;
  CHECK(is_ok(*stage.ask(learn_batch)));
  // Comes after all of them, and is learned before any of their models is there.
  while (stage.stat("pairs") < 500) std::this_thread::yield();
  CHECK(stage.inbox.answered() == 2);
  stage.gate.open();
  for (const auto& job : asked) CHECK(is_ok(*stage.inbox.wait_for(job->id)));
  // The first, one for the others of its kind, and one of all pairs.
  CHECK(models == 3);
  CHECK(stage.stat("refreshes") == 3);
}

TEST_CASE("What waits to be learned is bounded in bytes, and gone when it is learned") {
  constexpr std::uint64_t kMost = 4U << 20U;
  Stage stage;
  stage.script.learn = [&] { stage.gate.pass(); };
  stage.settings.spec.set("kernel", "spectrum:n=2");  // takes texts as they are
  stage.settings.learn_queue_bytes = kMost;
  stage.begin();
  std::vector<std::shared_ptr<Job>> accepted;
  bool is_full = false;
  for (std::size_t i = 0; i < 1000 && !is_full; ++i) {
    // As soon as it is encoded: what waits for a worker counts elsewhere.
    auto learn_batch = stage.learn_batch(i, 1, 200'000);
    learn_batch->waits = false;
    is_full = !stage.lane->offer(learn_batch);
    if (!is_full) accepted.push_back(stage.inbox.wait_for(learn_batch->id));
  }
  CHECK(is_full);
  CHECK(accepted.size() >= 3);
  CHECK(stage.stat("unlearned") == accepted.size());
  CHECK(stage.stat("unlearned_bytes") > kMost / 2);
  CHECK(stage.stat("unlearned_bytes") < kMost + 1'000'000);
  stage.gate.open();
  // Whoever waits now waits for all of them.
  stage.settle();
  CHECK(stage.stat("unlearned") == 0);
  CHECK(is_ok(*stage.ask(stage.learn_batch(5000, 1, 200'000))));
  CHECK(stage.stat("pairs") == accepted.size() + 1);
}

TEST_CASE("A large request wakes as many workers as it has work for") {
  FairQueue queue({1000, 1'000'000}, 0.2);
  std::array<std::promise<std::size_t>, 2> taken;
  std::vector<std::thread> workers;
  for (auto& one : taken) {
    workers.emplace_back([&queue, &one] {
      FairQueue::Taken work;
      one.set_value(queue.take(work, {10, 1'000'000}) ? work.slices.at(0).count : 0);
    });
  }
  const auto job = std::make_shared<Job>();
  job->operation = Operation::kScore;
  job->client = "large";
  job->scores = true;
  job->pairs.x.resize(100);
  job->pairs.y.resize(100);
  REQUIRE(queue.offer(job));
  for (auto& one : taken) {
    auto count = one.get_future();
    const bool was_woken = count.wait_for(std::chrono::minutes(1)) == std::future_status::ready;
    CHECK(was_woken);
    if (was_woken) CHECK(count.get() == 10);
  }
  queue.close();
  for (auto& worker : workers) worker.join();
}

TEST_CASE("Requests that wait for a model count in bytes until they are answered") {
  Stage stage;
  stage.script.build = [&] { stage.gate.pass(); };
  stage.settings.learn_queue_bytes = 100'000;
  stage.begin();
  REQUIRE(is_ok(*stage.ask(stage.learn_batch(0, 40))));
  stage.settle();
  std::vector<std::shared_ptr<Job>> asked;
  for (bool is_full = false; !is_full;) {
    REQUIRE(asked.size() < 1000);
    auto job = stage.job(Operation::kRefresh);
    is_full = !stage.lane->offer(job);
    if (!is_full) asked.push_back(job);
  }
  CHECK(asked.size() > 10);
  stage.gate.open();
  for (const auto& job : asked) CHECK(is_ok(*stage.inbox.wait_for(job->id)));
  stage.settle();
}

}  // namespace
}  // namespace phsic::test
