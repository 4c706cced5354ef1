// Starts threads.
#include "daemon/serving/learn_stage.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "core/random.h"
#include "tests/daemon/kept_scene.h"

namespace phsic::test {
namespace {

// A pair in the journal: its x, as it is learned, its time and its id.
using NotedPair = std::tuple<float, double, IdHash>;

struct Learning : KeptScene {
  Learning() {
    stream.when_built = [this] { hold.wait(true); };
  }
  // Nothing hangs when a test fails.
  ~Learning() {
    release();
    end();
    background.close();
    background.join();
    static_cast<void>(settle());
  }

  std::atomic<bool> hold{false};  // models are not finished
  std::atomic<int> built{0};
  LearnQueue queue{SIZE_MAX, backlog};
  LearnedTasks tasks{&journal, completion};
  Snapshots snapshots{stream,     &journal, background,
                      drift,      counters, decisions,
                      completion, reporter, [this] { queue.wake(); }};
  ModelBuilder builder{stream, &journal, nullptr, 0, background, counters, tasks, reporter, [this] {
                         ++built;
                         built.notify_all();
                         queue.wake();
                       }};
  LearnStage stage{stream, decisions, queue, builder, snapshots, tasks, counters, sources};
  std::thread learner;

  void release() {
    hold = false;
    hold.notify_all();
  }
  // The learner, in a thread of its own until end().
  void begin() {
    learner = std::thread([this] { stage.run(); });
  }
  void end() {
    queue.close();
    if (learner.joinable()) learner.join();
  }
  // Learns what was pushed, here and now.
  void run() {
    queue.close();
    stage.run();
  }

  // Adds pair `number`: a text of so many letters, or every third one a vector.
  static void add(LearnBlock& block, std::size_t number) {
    const bool is_vector = number % 3 == 0;
    Request request;
    Batch batch;
    if (is_vector) {
      request.pairs.are_vectors = true;
      const auto value = static_cast<float>(number);
      FakeStream().take({&value, 1, 1}, {&value, 1, 1}, batch);
    } else {
      request = request_of(Operation::kLearn, {std::string(number, 'x')});
      FakeStream().encode({request.pairs.x, request.pairs.y, {}}, batch);
    }
    request.pairs.times = {static_cast<double>(number)};
    request.pairs.ids = {std::to_string(number)};
    request.operation = Operation::kLearn;
    request.learns = true;
    request.pairs.y_rows = 1;
    Task task(std::move(request), nullptr);
    make_columns(task);
    REQUIRE(block.add(batch, 0, task, 0));
    block.is_duplicate.push_back(false);
  }
  [[nodiscard]] static NotedPair noted(std::size_t number) {
    return {static_cast<float>(number), static_cast<double>(number),
            hash_id(std::to_string(number))};
  }
  // A block of the next so many pairs.
  [[nodiscard]] LearnBlocks block(std::size_t count) {
    auto made = queue.make_block();
    for (std::size_t i = 0; i < count; ++i) add(made.front(), next_pair++);
    return made;
  }
  void push(LearnBlocks block) {
    queue.charge(block.front());
    queue.push(block);
  }
  [[nodiscard]] std::shared_ptr<Task> learn_task() {
    return waiting(request_of(Operation::kLearn, {"a"}));
  }

  // All pairs of the journal.
  [[nodiscard]] std::vector<NotedPair> noted_pairs() const {
    std::vector<NotedPair> all;
    for (const auto& entry : entries()) {
      const auto& pairs = entry.pairs;
      for (std::size_t i = 0; i < pairs.size(); ++i) {
        const auto x =
            pairs.are_vectors() ? pairs.x_values()[i] : static_cast<float>(pairs.x(i).size());
        all.emplace_back(x, pairs.times()[i], pairs.ids()[i]);
      }
    }
    return all;
  }
  std::size_t next_pair = 0;
};

TEST_CASE("Pairs that are new are learned and noted down in order, and no others") {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    Random random(seed);
    Learning scene;
    // With models, a block is learned in smaller pieces.
    if (seed % 2 == 1) scene.stream.refresh_pairs = 1 + random.below(100);
    std::vector<float> expected;
    std::vector<NotedPair> noted;
    for (int i = 0; i < 4; ++i) {
      const auto first = scene.next_pair;
      const auto count = random.below(2) * random.below(600);
      auto block = scene.block(count);
      block.front().is_refused = random.below(4) == 0;
      for (std::size_t row = 0; row < count; ++row) {
        const bool is_duplicate = random.below(10) == 0;
        block.front().is_duplicate[row] = is_duplicate;
        if (is_duplicate || block.front().is_refused) continue;
        expected.push_back(static_cast<float>(first + row));
        noted.push_back(Learning::noted(first + row));
      }
      scene.push(std::move(block));
    }
    scene.run();
    CHECK((scene.stream.learned() == expected));
    CHECK((scene.noted_pairs() == noted));
    CHECK(scene.counters.learned == expected.size());
    CHECK(scene.counters.refused == 0);
    CHECK(scene.backlog.waiting().pairs == 0);
    CHECK(scene.backlog.waiting().bytes == 0);
  }
}

TEST_CASE("Pairs that the stream refuses are counted, and noted down as they came") {
  Learning scene;
  scene.stream.refuses = [](float x) { return x < 4; };
  scene.push(scene.block(10));
  scene.run();
  CHECK(scene.counters.learned == 6);
  CHECK(scene.counters.refused == 4);
  CHECK(scene.noted_pairs().size() == 10);
  CHECK(scene.backlog.waiting().pairs == 0);
}

TEST_CASE("Who waits is let go when all pairs before it are learned, and not before") {
  Learning scene;
  std::vector<std::pair<std::size_t, std::shared_ptr<Task>>> waiting;  // after so many pairs
  for (const std::size_t count : {20, 10}) {
    const auto first = scene.next_pair;
    auto block = scene.block(count);
    for (const std::size_t row : {0, 0, 3, 7, 7, 10, 20}) {
      if (row > count) continue;
      const auto task = scene.learn_task();
      block.front().markers.push_back({row, task});
      waiting.emplace_back(first + row, task);
    }
    scene.push(std::move(block));
  }
  std::size_t pieces = 0;
  scene.stream.when_learned = [&] {
    ++pieces;
    for (const auto& [pairs, task] : waiting) {
      INFO("after " << pairs << " pairs, " << scene.stream.pairs() << " learned");
      CHECK(scene.caller->is_done(*task) == (pairs <= scene.stream.pairs()));
    }
  };
  scene.run();
  CHECK(pieces == 7);
  CHECK(scene.caller->done_count() == waiting.size());
}

TEST_CASE("Who waits in a block that is refused, or has no pairs, is let go all the same") {
  Learning scene;
  auto refused = scene.block(5);
  refused.front().is_refused = true;
  const auto first = scene.learn_task();
  refused.front().markers.push_back({5, first});
  scene.push(std::move(refused));
  auto empty = scene.block(0);
  const auto second = scene.learn_task();
  empty.front().markers.push_back({0, second});
  scene.push(std::move(empty));
  scene.run();
  CHECK(scene.caller->is_done(*first));
  CHECK(scene.caller->is_done(*second));
  CHECK(scene.stream.pairs() == 0);
}

TEST_CASE("Who was promised that its pairs are kept is told so while the learner goes on") {
  Learning scene;
  scene.begin();
  const auto task = scene.learn_task();
  task->outcome.is_durable = true;
  auto block = scene.block(5);
  block.front().markers.push_back({5, task});
  scene.push(std::move(block));
  scene.caller->wait_for(*task);
  CHECK_FALSE(task->outcome.error.has_value());
  CHECK(scene.noted_pairs().size() == 5);
}

TEST_CASE("A model comes into use while a long block is learned") {
  Learning scene;
  scene.hold = true;
  scene.stream.refresh_pairs = 10;
  std::vector<std::uint64_t> models;  // in use when a piece is about to be learned
  scene.stream.when_learned = [&] {
    models.push_back(scene.stream.published()->number);
    if (models.size() != 3) return;
    scene.release();
    scene.built.wait(0);
  };
  scene.push(scene.block(10 + 3 * 256));
  scene.run();
  CHECK(models == std::vector<std::uint64_t>{0, 0, 0, 1});
  CHECK(scene.stream.pairs() == 10 + 3 * 256);
}

TEST_CASE("Who waits until its pairs count is done when the model on its way is in use") {
  Learning scene;
  scene.hold = true;
  scene.stream.refresh_pairs = 10;
  auto block = scene.block(10);
  auto request = request_of(Operation::kLearn, {"a"});
  request.waits = true;
  const auto patient = scene.waiting(std::move(request));
  const auto other = scene.learn_task();
  block.front().markers = {{10, patient}, {10, other}};
  scene.begin();
  scene.push(std::move(block));
  scene.caller->wait_for(*other);
  CHECK_FALSE(scene.caller->is_done(*patient));
  scene.release();
  scene.caller->wait_for(*patient);
  CHECK(scene.stream.published()->number == 1);
}

TEST_CASE("A snapshot waits for the model on its way, and comes before the next one") {
  Learning scene;
  scene.hold = true;
  std::vector<std::string> acts;  // the learner's
  scene.stream.when_frozen = [&] { acts.emplace_back("model"); };
  scene.stream.when_copied = [&] {
    acts.emplace_back(scene.builder.is_building() ? "snapshot too early" : "snapshot");
  };
  const auto first = scene.order(Operation::kRefresh);
  const auto snapshot = scene.order(Operation::kSnapshot);
  const auto next = scene.order(Operation::kRefresh);
  const auto last = scene.learn_task();
  auto block = scene.block(5);
  block.front().markers = {{5, first}, {5, snapshot}, {5, next}};
  scene.push(std::move(block));
  block = scene.block(5);
  block.front().markers = {{5, last}};
  scene.push(std::move(block));
  scene.begin();
  scene.caller->wait_for(*last);  // the learner has looked around since the first block
  CHECK_FALSE(scene.caller->is_done(*snapshot));
  scene.release();
  for (const auto& task : {first, snapshot, next}) {
    scene.caller->wait_for(*task);
    CHECK_FALSE(task->outcome.error.has_value());
  }
  scene.end();
  // The last one is that of the end.
  CHECK(acts == std::vector<std::string>{"model", "snapshot", "model", "snapshot"});
}

TEST_CASE("In the end every model is built, everybody told, and the last snapshot written") {
  Learning scene;
  auto block = scene.block(20);
  auto request = request_of(Operation::kRefresh, {});
  request.all = true;
  const auto whole = scene.waiting(std::move(request));
  const auto partial = scene.order(Operation::kRefresh);
  const auto snapshot = scene.order(Operation::kSnapshot);
  const auto durable = scene.learn_task();
  durable->outcome.is_durable = true;
  block.front().markers = {{20, whole}, {20, partial}, {20, snapshot}, {20, durable}};
  scene.push(std::move(block));
  scene.run();
  for (const auto& task : {whole, partial, snapshot, durable}) {
    REQUIRE(scene.caller->told(*task).done == 1);
    CHECK_FALSE(task->outcome.error.has_value());
  }
  CHECK(scene.stream.published()->number == 2);
  CHECK_FALSE(scene.builder.is_building());
  CHECK(scene.journal.snapshots() > 0);
  CHECK_FALSE(scene.journal.has_news());
}

TEST_CASE("A long block makes room while it is learned, and sources hear of it each time") {
  Learning scene;
  const auto source = std::make_shared<FakeCaller>("", FakeCaller::Kind::kSource);
  scene.sources.add(source);
  std::size_t pieces = 0;
  scene.stream.when_learned = [&] {
    CHECK(source->room() == ++pieces);
    CHECK(scene.backlog.waiting().pairs == 4 * 256 - scene.stream.pairs());
    scene.sources.add(source);
  };
  scene.push(scene.block(4 * 256));
  scene.run();
  CHECK(pieces == 4);
}

}  // namespace
}  // namespace phsic::test
