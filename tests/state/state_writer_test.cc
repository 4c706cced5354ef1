// The state writer while its disk fails: SQLite's own files fail on demand, in this process.
#include "state/state_writer.h"

#include <sqlite3.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

namespace phsic::test {
namespace {

// What writing fails with; SQLITE_OK: it works. For every database of this process.
std::atomic<int> fault{SQLITE_OK};

namespace disk {

sqlite3_vfs* real = nullptr;
sqlite3_vfs ours;
std::mutex guards_tables;
std::map<const sqlite3_io_methods*, sqlite3_io_methods> tables;
std::atomic<int (*)(sqlite3_file*, const void*, int, sqlite3_int64)> real_write{nullptr};

int write(sqlite3_file* file, const void* bytes, int count, sqlite3_int64 offset) {
  const int code = fault;
  return code == SQLITE_OK ? real_write.load()(file, bytes, count, offset) : code;
}

int open(sqlite3_vfs* /*vfs*/, const char* name, sqlite3_file* file, int flags, int* given) {
  const int code = real->xOpen(real, name, file, flags, given);
  if (code != SQLITE_OK || file->pMethods == nullptr) return code;
  const std::lock_guard lock(guards_tables);
  auto [found, is_new] = tables.try_emplace(file->pMethods, *file->pMethods);
  if (is_new) {
    real_write = found->second.xWrite;
    found->second.xWrite = write;
  }
  file->pMethods = &found->second;
  return code;
}

void set_up() {
  fault = SQLITE_OK;
  if (real != nullptr) return;
  real = sqlite3_vfs_find(nullptr);
  ours = *real;
  ours.zName = "failing";
  ours.pNext = nullptr;
  ours.xOpen = open;
  REQUIRE(sqlite3_vfs_register(&ours, 1) == SQLITE_OK);
}

}  // namespace disk

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = std::filesystem::temp_directory_path() / "phsic_test_XXXXXX";
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  TemporaryFolder(TemporaryFolder&&) = delete;
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;

  [[nodiscard]] std::string file(const char* name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

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

TEST_CASE("A state_writer whose disk fails tells so, tries again, and has all that it told of") {
  disk::set_up();
  const TemporaryFolder folder;
  const auto name = folder.file("state.db");
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
      fault = code;
      audience.wait_until(false);
      CHECK_FALSE(state_writer.problem().empty());
      CHECK(state_writer.failures() > failures);
      fault = SQLITE_OK;
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
  disk::set_up();
  const TemporaryFolder folder;
  const auto name = folder.file("state.db");
  StateLock lock(name);
  {
    Audience audience;
    StateWriter state_writer(lock, name, {},
                             [&](bool keeping, const std::string&) { audience.hear(keeping); });
    auto& stream = state_writer.open("new", "x: y\n", "{}", {}, {});
    fault = code;
    state_writer.withdraw(stream);
    state_writer.forget(stream);
    audience.wait_until(false);
    fault = SQLITE_OK;
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
