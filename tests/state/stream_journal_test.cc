// A stream's journal on its way through a real state writer into a file, and back.
#include "state/stream_journal.h"

#include <sqlite3.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/model_cycle.h"
#include "tests/state/failing_disk.h"
#include "tests/state/recorder.h"

namespace phsic::test {
namespace {

constexpr const char* kName = "chat";
constexpr std::size_t kIds = 50;

const StoredOptions& small_stream() {
  static const StoredOptions kOptions = {
      {"encoder", "hashing:dim=16"}, {"reservoir", "64"}, {"held-back", "32"}, {"rank", "4"}};
  return kOptions;
}

// A state writer for as long as a test needs it.
struct Desk {
  explicit Desk(const std::string& file)
      : lock(file), writer(lock, file, {}, [](bool, const std::string&) {}) {}
  StateLock lock;
  StateWriter writer;
};

// A stream that learns, and its journal.
class Scribe {
 public:
  Scribe(StateWriter& writer, const StreamJournal::Options& options)
      : stream_(open_stream(small_stream())),
        journal_(writer, kName, identity_text(stream_->identity()), options_json(small_stream()),
                 options, Recovery(kIds)),
        cycle_(*stream_, &journal_) {}

  void learn(std::size_t pairs) {
    for (std::size_t i = 0; i < pairs; ++i) {
      const auto [x, y] = maker_.next();
      const std::string_view x_text = x;
      const std::string_view y_text = y;
      const double time = ++time_;
      stream_->encode({{&x_text, 1}, {&y_text, 1}, {}}, batch_);
      stream_->learn({batch_.x.view(), batch_.y.view(), &time, &x_text, &y_text}, 0, false);
      journal_.add(x_text, y_text, time, hash_id(std::to_string(time)));
    }
  }

  // Waits until everything so far is on the disk or lost, and returns what is wrong.
  [[nodiscard]] std::string settle() {
    std::promise<std::string> told;
    journal_.when_kept([&](const std::string& problem) { told.set_value(problem); });
    return told.get_future().get();
  }

  // A snapshot of an earlier moment. Returns what is wrong.
  [[nodiscard]] std::string write(const StreamJournal::Draft& draft, const StreamState& state) {
    std::promise<std::string> told;
    journal_.write_snapshot(draft, state,
                            [&](const std::string& problem, std::uint64_t pairs, std::uint64_t) {
                              pairs_told_ = pairs;
                              told.set_value(problem);
                            });
    return told.get_future().get();
  }

  [[nodiscard]] Stream& stream() { return *stream_; }
  [[nodiscard]] StreamJournal& journal() { return journal_; }
  [[nodiscard]] ModelCycle& cycle() { return cycle_; }
  // Of the last snapshot.
  [[nodiscard]] std::uint64_t pairs_told() const { return pairs_told_; }

 private:
  std::unique_ptr<Stream> stream_;
  StreamJournal journal_;
  ModelCycle cycle_;
  PairMaker maker_{1};
  Batch batch_;
  double time_ = 1e9;
  std::uint64_t pairs_told_ = 0;
};

struct Recovered {
  std::unique_ptr<Stream> stream = open_stream(small_stream());
  Recovery recovery{kIds};
};

Recovered recover_from(const std::string& name) {
  Recovered recovered;
  const StateFile file(name, Database::Access::kRead);
  recovered.recovery = recover(file, kName, *recovered.stream, kIds);
  CHECK(recovered.recovery.damage.empty());
  return recovered;
}

std::vector<EntryKind> kinds_in(const std::string& name) {
  const StateFile file(name, Database::Access::kRead);
  std::vector<EntryKind> kinds;
  file.read_journal(file.find(kName)->id, 0, false,
                    [&](std::uint64_t, std::uint64_t, std::span<const char> bytes) {
                      kinds.push_back(parse<Entry>(bytes).kind);
                      return true;
                    });
  return kinds;
}

TEST_CASE("What a stream's journal was told comes back by recovery, in order") {
  const StateFolder folder;
  const auto name = folder.path("state.db");
  std::string expected;
  {
    Desk desk(name);
    Scribe scribe(desk.writer, {});
    scribe.learn(40);
    scribe.cycle().refresh_every(100);
    scribe.learn(40);
    REQUIRE(scribe.cycle().begin(PairExtent::kWithoutHeldBack));
    scribe.learn(30);
    CHECK_FALSE(scribe.cycle().complete());
    REQUIRE(scribe.cycle().begin(PairExtent::kAll));
    scribe.cycle().abandon();
    scribe.learn(5);
    scribe.journal().flush();
    expected = state_of(scribe.stream());
  }
  using Kind = EntryKind;
  CHECK(kinds_in(name) == std::vector<Kind>{Kind::kTexts, Kind::kEvery, Kind::kTexts, Kind::kFreeze,
                                            Kind::kTexts, Kind::kAdopt, Kind::kFreeze,
                                            Kind::kAbandon, Kind::kTexts});
  const auto recovered = recover_from(name);
  CHECK(recovered.recovery.last == EntryPlace{1, 9, 115});
  CHECK(recovered.recovery.models == 1);
  CHECK((state_of(*recovered.stream) == expected));
}

TEST_CASE("A note of a model that cannot be made ends the process, and is not passed over") {
  using Journal = StreamJournal&;
  STATIC_REQUIRE(noexcept(std::declval<Journal>().freeze(PairExtent::kAll)));
  STATIC_REQUIRE(noexcept(std::declval<Journal>().abandon()));
  STATIC_REQUIRE(noexcept(std::declval<Journal>().refresh_every(1)));
  STATIC_REQUIRE(noexcept(std::declval<Journal>().adopt(std::declval<std::string>())));
}

TEST_CASE("Texts and vectors get entries of their own") {
  const StateFolder folder;
  const auto name = folder.path("state.db");
  {
    Desk desk(name);
    StreamJournal journal(desk.writer, kName, "x: y\n", "{}", {}, Recovery(kIds));
    const std::vector<float> vector = {1, 2};
    journal.add("a", "b", 1, kNoId);
    journal.add("c", "d", 2, kNoId);
    journal.add(vector, vector, 3, kNoId);
    journal.add("e", "f", 4, kNoId);
    journal.flush();
  }
  CHECK(kinds_in(name) ==
        std::vector<EntryKind>{EntryKind::kTexts, EntryKind::kVectors, EntryKind::kTexts});
}

TEST_CASE("A snapshot is due by size or by time, and only if there are news") {
  const StateFolder folder;
  Desk desk(folder.path("state.db"));
  const auto is_far = [](const StreamJournal& journal) {
    return journal.due_at() > std::chrono::steady_clock::now() + std::chrono::minutes(30);
  };
  struct Case {
    const char* stream;
    StreamJournal::Options options;
    bool is_due;
  };
  for (const auto& [stream, options, is_due] :
       {Case{"never", {0, 1U << 30U}, false}, Case{"by size", {0, 1}, true},
        Case{"by time", {1e-9, 1U << 30U}, true}, Case{"tomorrow", {86400, 1U << 30U}, false}}) {
    INFO(stream);
    StreamJournal journal(desk.writer, stream, "x: y\n", "{}", options, Recovery(kIds));
    CHECK_FALSE(journal.has_news());
    CHECK_FALSE(journal.is_due());
    CHECK(is_far(journal));
    journal.add("a", "b", 1, kNoId);
    journal.flush();
    CHECK(journal.has_news());
    CHECK(journal.is_due() == is_due);
    CHECK(is_far(journal) == !is_due);
    static_cast<void>(journal.begin_snapshot());
    CHECK_FALSE(journal.has_news());
    CHECK_FALSE(journal.is_due());
  }
}

TEST_CASE("What a recovery has replayed counts towards the next snapshot") {
  const StateFolder folder;
  Desk desk(folder.path("state.db"));
  Recovery recovery(kIds);
  recovery.replayed_bytes = 1000;
  const StreamJournal journal(desk.writer, kName, "x: y\n", "{}", {0, 1000}, recovery);
  CHECK(journal.has_news());
  CHECK(journal.is_due());
}

TEST_CASE("A snapshot covers what was noted before it, and nothing after") {
  const StateFolder folder;
  const auto name = folder.path("state.db");
  std::string expected;
  {
    Desk desk(name);
    Scribe scribe(desk.writer, {});
    scribe.learn(20);
    scribe.cycle().refresh_every(200);
    scribe.learn(20);  // still gathered
    const auto draft = scribe.journal().begin_snapshot();
    CHECK(draft.last == EntryPlace{1, 3, 40});
    CHECK(draft.serving.ids.ids().size() == 40);
    const auto state = scribe.stream().state();
    scribe.learn(7);
    CHECK(scribe.write(draft, *state).empty());
    CHECK(scribe.pairs_told() == 40);
    CHECK(scribe.journal().snapshots() == 1);
    scribe.journal().flush();
    CHECK(scribe.journal().has_news());
    expected = state_of(scribe.stream());
  }
  const auto recovered = recover_from(name);
  CHECK(recovered.recovery.from_snapshot == 40);
  CHECK(recovered.recovery.replayed == 7);
  CHECK(recovered.recovery.serving.ids.ids().size() == 47);
  CHECK((state_of(*recovered.stream) == expected));
}

TEST_CASE("A journal whose entries were lost is behind when the writer asks, until a snapshot") {
  FailingDisk disk;
  const StateFolder folder;
  const auto name = folder.path("state.db");
  std::string expected;
  {
    Desk desk(name);
    Scribe scribe(desk.writer, {});
    std::atomic<bool> is_woken = false;
    scribe.journal().set_waker([&] {
      is_woken = true;
      is_woken.notify_one();
    });
    scribe.learn(10);
    CHECK(scribe.settle().empty());
    CHECK_FALSE(scribe.journal().is_behind());
    disk.fail_with(GENERATE(SQLITE_FULL, SQLITE_IOERR_WRITE));
    scribe.learn(10);
    CHECK_FALSE(scribe.settle().empty());
    CHECK_FALSE(scribe.journal().is_keeping());
    CHECK_FALSE(scribe.journal().problem().empty());
    disk.mend();
    is_woken.wait(false);
    CHECK(scribe.journal().is_behind());
    scribe.learn(10);
    const auto draft = scribe.journal().begin_snapshot();
    CHECK(scribe.write(draft, *scribe.stream().state()).empty());
    CHECK(scribe.journal().is_keeping());
    CHECK_FALSE(scribe.journal().is_behind());
    scribe.learn(10);
    CHECK(scribe.settle().empty());
    expected = state_of(scribe.stream());
    scribe.journal().set_waker({});
  }
  const auto recovered = recover_from(name);
  CHECK(recovered.recovery.from_snapshot == 30);
  CHECK(recovered.recovery.replayed == 10);
  CHECK((state_of(*recovered.stream) == expected));
}

TEST_CASE("Callers are told in their order that pairs are kept, when these are on the disk") {
  const StateFolder folder;
  const auto name = folder.path("state.db");
  Desk desk(name);
  Scribe scribe(desk.writer, {});
  std::vector<std::uint64_t> wanted;
  std::vector<std::uint64_t> asked;
  std::vector<std::uint64_t> found;
  for (std::uint64_t pairs = 3; pairs < 30; pairs += 3) {
    scribe.learn(3);
    wanted.push_back(pairs);
    scribe.journal().when_kept([&, pairs](const std::string& problem) {
      if (!problem.empty()) return;
      asked.push_back(pairs);
      const StateFile file(name, Database::Access::kRead);
      found.push_back(file.journal(file.find(kName)->id).pairs);
    });
  }
  CHECK(scribe.settle().empty());
  CHECK(asked == wanted);
  REQUIRE(found.size() == asked.size());
  for (std::size_t i = 0; i < found.size(); ++i) CHECK(found[i] >= asked[i]);
}

// All that a file has of its streams.
std::vector<std::string> streams_in(const std::string& name) {
  const StateFile file(name, Database::Access::kRead);
  std::vector<std::string> lines;
  for (const auto& record : file.streams()) {
    lines.push_back(record.name + "|" + record.identity + "|" + record.options + "|" +
                    std::to_string(record.id) + "|" +
                    std::to_string(file.journal(record.id).entries));
  }
  for (const auto& [topic, last] : file.feed()) lines.push_back(topic);
  return lines;
}

TEST_CASE("A stream that is withdrawn leaves the file as it was") {
  const StateFolder folder;
  const auto name = folder.path("state.db");
  {
    Desk desk(name);
    StreamJournal journal(desk.writer, "old", "x: y\n", "{}", {}, Recovery(kIds));
    journal.add("a", "b", 1, kNoId);
    journal.flush();
  }
  const auto before = streams_in(name);
  {
    Desk desk(name);
    Recovery recovery(kIds);
    recovery.last = {1, 1, 1};
    StreamJournal old(desk.writer, "old", "x: z\n", R"({"rank":"3"})", {}, recovery);
    StreamJournal fresh(desk.writer, "new", "x: y\n", "{}", {}, Recovery(kIds));
    CHECK(streams_in(name) != before);
    desk.writer.withdraw("old");
    desk.writer.withdraw("new");
  }
  CHECK(streams_in(name) == before);
}

}  // namespace
}  // namespace phsic::test
