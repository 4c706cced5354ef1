// A stream at work when memory runs out, its learner is slow, or all clients want the same of it.
// These tests start threads.
#include "daemon/serving/lane.h"

#include <fmt/format.h>

#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <future>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "daemon/serving/fair_queue.h"
#include "tests/daemon/fake_caller.h"
#include "tests/daemon/fake_listener.h"
#include "tests/daemon/scripted_stream.h"

namespace phsic::test {
namespace {

// A gate that no thread passes while it is closed.
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
  // Waits until a thread has come to the gate.
  void await() { came_.wait(0); }

 private:
  std::atomic<bool> is_open_{false};
  std::atomic<int> came_{0};
};

// A lane with a stream that does as it is told.
struct Stage {
  explicit Stage(const char* estimator = "gaussian-pmi") {
    settings.name = "a";
    settings.refresh_seconds = 0;
    settings.spec.set("encoder", "hashing:dim=64");
    settings.spec.set("estimator", estimator);
    settings.spec.set("refresh", "100000");
    settings.decide.set("rules", "none");
    settings.decide.set("duplicates", "learn");
  }
  // Nothing hangs when a test fails.
  ~Stage() { gate.open(); }
  void begin() {
    auto stream =
        std::make_unique<ScriptedStream>(Stream::open(settings.spec, EncoderPath()), script);
    lane = std::make_unique<Lane>(settings, std::move(stream), Recovery(settings.id_window),
                                  nullptr, listener);
  }

  [[nodiscard]] std::shared_ptr<Task> task(Request request) const {
    return std::make_shared<Task>(std::move(request), lent(client));
  }
  [[nodiscard]] std::shared_ptr<Task> order(Operation operation, bool all = false) const {
    Request request;
    request.operation = operation;
    request.all = all;
    return task(std::move(request));
  }
  // Pairs whose texts are numbers, which are their ids, too.
  [[nodiscard]] static Request learn_request(std::size_t first, std::size_t count,
                                             std::size_t bytes = 10) {
    Request request;
    request.operation = Operation::kLearn;
    request.learns = true;
    request.waits = true;
    auto& pairs = request.pairs;
    for (std::size_t i = first; i < first + count; ++i) {
      auto text = fmt::format("{} number{} ", i, i % 17);
      text.resize(std::max(text.size(), bytes), 'a');
      pairs.bytes += "x" + text + "y" + text;
      pairs.ids.push_back(std::to_string(i));
    }
    std::string_view rest = pairs.bytes;
    const auto cut = [&rest](std::size_t size) {
      const auto found = rest.substr(0, size);
      rest.remove_prefix(size);
      return found;
    };
    for (std::size_t i = 0; i < count; ++i) {
      const auto size = rest.find('y');
      pairs.x.push_back(cut(size));
      pairs.y.push_back(cut(size));
    }
    return request;
  }
  [[nodiscard]] std::shared_ptr<Task> learn_batch(std::size_t first, std::size_t count,
                                                  std::size_t bytes = 10) const {
    return task(learn_request(first, count, bytes));
  }
  [[nodiscard]] std::shared_ptr<Task> learn_without_waiting(std::size_t first, std::size_t count,
                                                            std::size_t bytes = 10) const {
    auto request = learn_request(first, count, bytes);
    request.waits = false;
    return task(std::move(request));
  }
  // Offers a task and waits until it is done. Returns the answer.
  std::string ask(const std::shared_ptr<Task>& asked) const {
    REQUIRE(lane->offer(asked));
    return answer(*asked);
  }
  [[nodiscard]] std::string answer(const Task& asked) const {
    client->wait_for(asked);
    return client->told(asked).answer;
  }
  // Waits until answered requests no longer count: the bytes of a request go when the last thread
  // releases it.
  void settle() const {
    while (stat("unlearned_bytes") > 0) std::this_thread::yield();
  }
  // A number among those of `stats`.
  [[nodiscard]] std::uint64_t stat(std::string_view name) const {
    for (const auto& statistic : lane->statistics().list()) {
      if (statistic.name == name) return std::get<std::uint64_t>(statistic.value);
    }
    FAIL("there is no statistic " << name);
    return 0;
  }

  StreamSettings settings;
  Gate gate;
  Script script;
  FakeListener listener;
  std::shared_ptr<FakeCaller> client = std::make_shared<FakeCaller>();
  std::shared_ptr<FakeCaller> source = std::make_shared<FakeCaller>("", FakeCaller::Kind::kSource);
  std::unique_ptr<Lane> lane;  // last: its threads end first
};

bool is_ok(const std::string& answer) { return answer.starts_with("{\"ok\":true"); }
bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE(
    "Pairs that there was no memory for are not counted, and are learned when they come again") {
  std::atomic<std::size_t> memory{2};
  Stage stage("pmi");
  stage.script.memory = [&](std::size_t rows) { return std::min<std::size_t>(rows, memory); };
  stage.begin();
  const auto failed = stage.ask(stage.learn_batch(0, 5));
  CHECK_FALSE(is_ok(failed));
  CHECK(has(failed, "memory"));
  CHECK(stage.stat("pairs") == 2);
  stage.settle();
  CHECK(stage.stat("unlearned") == 0);
  memory = 100;
  const auto again = stage.learn_batch(0, 5);
  CHECK(is_ok(stage.ask(again)));
  CHECK(again->outcome.learned == 3);
  CHECK(again->outcome.duplicates == 2);
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
  REQUIRE(is_ok(stage.ask(stage.learn_batch(0, 400))));
  REQUIRE(is_ok(stage.ask(stage.order(Operation::kRefresh))));
  const auto model = stage.stat("model");
  CHECK(model == 1);
  has_memory = false;
  const auto failed = stage.ask(stage.order(Operation::kRefresh));
  CHECK_FALSE(is_ok(failed));
  CHECK(has(failed, "memory"));
  CHECK(has(stage.listener.events(), "no model was built"));
  CHECK(is_ok(stage.ask(stage.learn_batch(400, 100))));
  CHECK(stage.stat("model") == model);
  has_memory = true;
  CHECK(is_ok(stage.ask(stage.order(Operation::kRefresh))));
  CHECK(stage.stat("model") == model + 1);
  CHECK(stage.stat("pairs") == 500);
}

TEST_CASE("An explanation that there is no memory for is refused") {
  Stage stage;
  stage.script.explain = [] { throw std::bad_alloc(); };
  stage.begin();
  auto request = Stage::learn_request(0, 1);
  request.operation = Operation::kExplain;
  request.learns = request.waits = false;
  const auto failed = stage.ask(stage.task(std::move(request)));
  CHECK(has(failed, "not enough memory"));
  CHECK(is_ok(stage.ask(stage.learn_batch(0, 1))));
}

TEST_CASE("One model answers all requests from before it began, and learning goes on meanwhile") {
  std::atomic<int> models{0};
  Stage stage;
  stage.script.freeze = [&] { ++models; };
  stage.script.build = [&] { stage.gate.pass(); };
  stage.begin();
  REQUIRE(is_ok(stage.ask(stage.learn_batch(0, 400))));
  stage.settle();
  std::vector<std::shared_ptr<Task>> asked;
  for (int i = 0; i < 100; ++i) {
    asked.push_back(stage.order(Operation::kRefresh, i % 2 == 1));
    REQUIRE(stage.lane->offer(asked.back()));
    if (i == 0) stage.gate.await();
  }
  CHECK(is_ok(stage.ask(stage.learn_without_waiting(400, 100))));
  // This pair comes after all of the requests, and is learned before any of their models is there.
  while (stage.stat("pairs") < 500) std::this_thread::yield();
  CHECK(stage.client->done_count() == 2);
  stage.gate.open();
  for (const auto& task : asked) CHECK(is_ok(stage.answer(*task)));
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
  std::vector<std::shared_ptr<Task>> accepted;
  bool is_full = false;
  for (std::size_t i = 0; i < 1000 && !is_full; ++i) {
    // A pair counts as soon as it is encoded; before that it counts in the queue of the workers.
    const auto task = stage.learn_without_waiting(i, 1, 200'000);
    is_full = !stage.lane->offer(task);
    if (is_full) continue;
    stage.client->wait_for(*task);
    accepted.push_back(task);
  }
  CHECK(is_full);
  CHECK(accepted.size() >= 3);
  CHECK(stage.stat("unlearned") == accepted.size());
  CHECK(stage.stat("unlearned_bytes") > kMost / 2);
  CHECK(stage.stat("unlearned_bytes") < kMost + 1'000'000);
  stage.gate.open();
  // From now on settle() waits for all of them.
  stage.settle();
  CHECK(stage.stat("unlearned") == 0);
  CHECK(is_ok(stage.ask(stage.learn_batch(5000, 1, 200'000))));
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
  Request request;
  request.operation = Operation::kScore;
  request.scores = true;
  request.pairs.x.resize(100);
  request.pairs.y.resize(100);
  const auto client = std::make_shared<FakeCaller>();
  REQUIRE(queue.offer(std::make_shared<Task>(std::move(request), client)));
  for (auto& one : taken) {
    auto count = one.get_future();
    const bool was_woken = count.wait_for(std::chrono::minutes(1)) == std::future_status::ready;
    CHECK(was_woken);
    if (was_woken) CHECK(count.get() == 10);
  }
  queue.close();
  for (auto& worker : workers) worker.join();
}

TEST_CASE("A lane that cannot begin ends, and nobody waits for it") {
  Stage stage;
  stage.script.open = [] { throw Error("there is no more room"); };
  CHECK_THROWS_WITH(stage.begin(), "there is no more room");
}

TEST_CASE("Requests that wait for a model count in bytes until they are answered") {
  Stage stage;
  stage.script.build = [&] { stage.gate.pass(); };
  stage.settings.learn_queue_bytes = 100'000;
  stage.begin();
  REQUIRE(is_ok(stage.ask(stage.learn_batch(0, 40))));
  stage.settle();
  std::vector<std::shared_ptr<Task>> asked;
  for (bool is_full = false; !is_full;) {
    REQUIRE(asked.size() < 1000);
    const auto task = stage.order(Operation::kRefresh);
    is_full = !stage.lane->offer(task);
    if (!is_full) asked.push_back(task);
  }
  CHECK(asked.size() > 10);
  stage.gate.open();
  for (const auto& task : asked) CHECK(is_ok(stage.answer(*task)));
  stage.settle();
}

// As pairs come by ingest: to be scored and learned.
std::shared_ptr<Task> message(const Stage& stage, std::size_t first, std::size_t count) {
  auto request = Stage::learn_request(first, count);
  request.operation = Operation::kScore;
  request.scores = true;
  request.waits = false;
  return std::make_shared<Task>(std::move(request), lent(stage.source));
}

TEST_CASE("A source hears that its pairs are learned, without asking for that") {
  Stage stage(GENERATE("gaussian-pmi", "pmi"));
  stage.script.learn = [&] { stage.gate.pass(); };
  const bool counts = stage.settings.spec.counts;
  stage.begin();
  const auto task = message(stage, 0, 10);
  REQUIRE(stage.lane->offer(task));
  if (!counts) {
    stage.gate.await();
    CHECK_FALSE(stage.source->is_done(*task));
    stage.gate.open();
  }
  stage.source->wait_for(*task);
  CHECK(stage.source->told(*task).done == 1);
  CHECK(task->outcome.learned == 10);
  CHECK(stage.stat("pairs") == 10);
  stage.settle();
}

TEST_CASE(
    "A source that there was no room for hears when there is, and is not counted as refused") {
  Stage stage;
  stage.script.learn = [&] { stage.gate.pass(); };
  stage.settings.learn_queue_pairs = 10;
  stage.begin();
  const auto first = message(stage, 0, 10);
  REQUIRE(stage.lane->offer(first));
  stage.gate.await();
  const auto second = message(stage, 10, 10);
  // The worker may have made room elsewhere when it was done with the first.
  auto heard = stage.source->room();
  CHECK_FALSE(stage.lane->offer(second));
  CHECK(stage.stat("overloaded") == 0);
  stage.gate.open();
  do {
    stage.source->wait_for_room(heard);
    heard = stage.source->room();
  } while (!stage.lane->offer(second));
  stage.source->wait_for(*second);
  CHECK(stage.stat("pairs") == 20);
  stage.settle();
}

TEST_CASE("A source gets all of its pairs into a lane that is always full") {
  Stage stage(GENERATE("gaussian-pmi", "pmi"));
  stage.settings.workers = 2;
  stage.settings.learn_queue_pairs = 8;
  stage.settings.queue_pairs = 8;
  stage.begin();
  std::vector<std::shared_ptr<Task>> sent;
  for (std::size_t i = 0; i < 300; ++i) {
    const auto task = message(stage, 5 * i, 5);
    auto heard = stage.source->room();
    while (!stage.lane->offer(task)) {
      stage.source->wait_for_room(heard);
      heard = stage.source->room();
    }
    sent.push_back(task);
  }
  for (const auto& task : sent) stage.source->wait_for(*task);
  CHECK(stage.stat("pairs") == 1500);
  stage.settle();
  CHECK(stage.stat("unlearned") == 0);
}

TEST_CASE("A lane that was closed does what it has accepted, and takes nothing more") {
  Stage stage;
  stage.script.explain = [&] { stage.gate.pass(); };
  stage.begin();
  const auto explain = [&] {
    auto request = Stage::learn_request(0, 1);
    request.operation = Operation::kExplain;
    request.learns = request.waits = false;
    return stage.task(std::move(request));
  };
  const auto accepted = explain();
  REQUIRE(stage.lane->offer(accepted));
  stage.gate.await();
  stage.lane->close();
  CHECK_FALSE(stage.lane->offer(explain()));
  CHECK_FALSE(stage.lane->offer(stage.learn_batch(0, 1)));
  CHECK_FALSE(stage.lane->offer(stage.order(Operation::kRefresh)));
  stage.gate.open();
  stage.client->wait_for(*accepted);
  stage.listener.wait_until_closed();
  CHECK_FALSE(stage.lane->offer(explain()));
}

TEST_CASE("A lane may end as soon as its last model is built") {
  for (int i = 0; i < 50; ++i) {
    Stage stage;
    stage.begin();
    REQUIRE(stage.lane->offer(stage.learn_without_waiting(0, 40)));
    const auto model = stage.order(Operation::kRefresh);
    REQUIRE(stage.lane->offer(model));
    stage.lane = nullptr;
    CHECK(is_ok(stage.answer(*model)));
  }
}

}  // namespace
}  // namespace phsic::test
