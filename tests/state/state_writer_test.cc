// The state writer while its disk fails.
#include "state/state_writer.h"

#include <sqlite3.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <condition_variable>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "tests/state/failing_disk.h"
#include "tests/state/recorder.h"

namespace phsic::test {
namespace {

// Hears whether what is learned is kept.
class Audience {
 public:
  void hear(bool keeping) {
    const std::lock_guard lock(mutex_);
    keeping_ = keeping;
    changed_.notify_all();
  }
  void wait_until(bool keeping) {
    std::unique_lock lock(mutex_);
    // Longer than it ever takes. A test that waits for ever does not say for what.
    REQUIRE(changed_.wait_for(lock, std::chrono::minutes(1), [&] { return keeping_ == keeping; }));
  }

 private:
  std::mutex mutex_;  // guards keeping_
  std::condition_variable changed_;
  bool keeping_ = true;
};

// Entries of one pair each, and a snapshot whenever one is wanted, as a lane's learner does.
class Learner {
 public:
  Learner(StateWriter& state_writer, const char* name)
      : stream_(state_writer.open(name, "x: y\n", "{}", {}, [this] { asked_ = true; })),
        thread_([this, &state_writer] { run(state_writer); }) {}
  ~Learner() {
    if (thread_.joinable()) end();
  }
  Learner(const Learner&) = delete;
  Learner& operator=(const Learner&) = delete;
  Learner(Learner&&) = delete;
  Learner& operator=(Learner&&) = delete;

  void end() {
    goes_on_ = false;
    thread_.join();
  }
  // Up to this entry all is on the disk, as was told.
  [[nodiscard]] std::uint64_t kept() const { return kept_; }
  [[nodiscard]] std::uint64_t refused() const { return refused_; }
  [[nodiscard]] KeptStream& stream() { return stream_; }

 private:
  void run(StateWriter& state_writer) {
    while (goes_on_) {
      const auto number = ++last_;
      state_writer.append(stream_, {number, number}, 1, "entry " + std::to_string(number));
      if (asked_.exchange(false)) {
        state_writer.put_snapshot(stream_, {number, number}, "snapshot " + std::to_string(number),
                                  {});
      }
      const auto told = std::make_shared<std::promise<void>>();
      state_writer.tell(stream_, [this, number, told](const std::string& problem) {
        if (problem.empty()) {
          kept_ = number;
        } else {
          ++refused_;
        }
        told->set_value();
      });
      told->get_future().wait();
    }
  }

  std::atomic<bool> asked_{false};
  std::atomic<bool> goes_on_{true};
  std::atomic<std::uint64_t> kept_{0};
  std::atomic<std::uint64_t> refused_{0};
  std::uint64_t last_ = 0;
  KeptStream& stream_;
  std::thread thread_;
};

// The newest snapshot and the journal after it have all up to an entry.
std::uint64_t reach_of(const StateFile& file, std::uint32_t stream) {
  const auto snapshots = file.snapshots(stream);
  std::uint64_t last = 0;
  if (!snapshots.empty()) {
    last = snapshots.front().number;
    CHECK(file.snapshot(snapshots.front()) == "snapshot " + std::to_string(last));
  }
  file.read_journal(
      stream, last, false, [&](std::uint64_t number, std::uint64_t, std::span<const char> entry) {
        CHECK(number == last + 1);
        last = number;
        CHECK(std::string(entry.begin(), entry.end()) == "entry " + std::to_string(number));
        return true;
      });
  return last;
}

TEST_CASE("A state writer whose disk fails tells so, tries again, and has all that it told of") {
  FailingDisk disk;
  const StateFolder folder;
  const auto name = folder.path("state.db");
  StateLock lock(name);
  std::map<std::string, std::pair<std::uint32_t, std::uint64_t>> kept;
  {
    Audience audience;
    StateWriter state_writer(lock, name, {},
                             [&](bool keeping, const std::string&) { audience.hear(keeping); });
    Learner a(state_writer, "a");
    Learner b(state_writer, "b");
    for (const int code : {SQLITE_FULL, SQLITE_IOERR_WRITE}) {
      const auto failures = state_writer.failures();
      disk.fail_with(code);
      audience.wait_until(false);
      CHECK_FALSE(state_writer.problem().empty());
      CHECK(state_writer.failures() > failures);
      disk.mend();
      audience.wait_until(true);
      CHECK(state_writer.is_keeping());
    }
    for (auto* learner : {&a, &b}) {
      const auto before = learner->kept();
      while (learner->kept() == before) std::this_thread::yield();
      learner->end();
      CHECK(learner->refused() > 0);
    }
    kept = {{"a", {a.stream().id(), a.kept()}}, {"b", {b.stream().id(), b.kept()}}};
  }
  const StateFile file(name, Database::Access::kRead);
  CHECK(file.check().empty());
  for (const auto& [stream, place] : kept) {
    CHECK(reach_of(file, place.first) >= place.second);
    CHECK(StateMarks(name).find(*file.find(stream))->number >= place.second);
  }
}

TEST_CASE("A stream that is withdrawn while the disk fails is gone once it works again") {
  const int code = GENERATE(SQLITE_FULL, SQLITE_IOERR_WRITE);
  const bool is_opened_again = GENERATE(false, true);
  FailingDisk disk;
  const StateFolder folder;
  const auto name = folder.path("state.db");
  StateLock lock(name);
  {
    Audience audience;
    StateWriter state_writer(lock, name, {},
                             [&](bool keeping, const std::string&) { audience.hear(keeping); });
    auto& stream = state_writer.open("new", "x: y\n", "{}", {}, {});
    disk.fail_with(code);
    state_writer.forget(stream);
    state_writer.withdraw("new");
    audience.wait_until(false);
    disk.mend();
    // Whether the file was opened by then or not: a stream of that name is a new one.
    if (!is_opened_again || code != SQLITE_FULL) audience.wait_until(true);
    if (is_opened_again) {
      auto& again = state_writer.open("new", "x: z\n", "{}", {}, {});
      state_writer.append(again, {1, 1}, 1, "entry 1");
    }
    audience.wait_until(true);
  }
  const StateFile file(name, Database::Access::kRead);
  const auto found = file.find("new");
  REQUIRE(found.has_value() == is_opened_again);
  if (!found) return;
  CHECK(found->identity == "x: z\n");
  CHECK(reach_of(file, found->id) == 1);
}

}  // namespace
}  // namespace phsic::test
