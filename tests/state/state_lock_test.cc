#include "state/state_lock.h"

#include <catch2/catch.hpp>
#include <filesystem>

#include "core/error.h"
#include "state/state_file.h"
#include "tests/state/recorder.h"

namespace phsic::test {
namespace {

StreamRecord record_of(std::uint32_t id, double created) { return {id, "chat", "", "{}", created}; }

TEST_CASE("One at a time may write, and others can tell") {
  const StateFolder folder;
  const auto name = folder.path("state.db");
  CHECK_FALSE(StateLock::is_held(name));
  {
    const StateLock lock(name);
    CHECK(StateLock::is_held(name));
    CHECK_THROWS_WITH(StateLock(name), Catch::Contains("found it in use"));
  }
  CHECK_FALSE(StateLock::is_held(name));
  const StateLock again(name);
}

TEST_CASE("Removing the lock lets no other daemon in, and it is there again with the next mark") {
  const StateFolder folder;
  const auto name = folder.path("state.db");
  { const StateFile file(name, Database::Access::kCreate); }
  StateLock lock(name);
  lock.note(1, 10.5, {7, 70});
  lock.note(2, 20.5, {8, 80});
  std::filesystem::remove(name + "-lock");
  CHECK(StateLock::is_held(name));
  CHECK_THROWS_WITH(StateLock(name), Catch::Contains("found it in use"));
  lock.note(2, 20.5, {9, 90});
  CHECK(StateMarks(name).all() == std::vector<StateMark>{{7, 70}, {9, 90}});
  // Both are locked again.
  std::filesystem::remove(name);
  CHECK_THROWS_WITH(StateLock(name), Catch::Contains("found it in use"));
  lock.forget_marks();
  CHECK(StateMarks(name).all().empty());
}

TEST_CASE("A state that takes the place of another is locked, too") {
  const StateFolder folder;
  const auto name = folder.path("state.db");
  StateLock lock(name);
  { const StateFile file(name, Database::Access::kCreate); }
  CHECK_FALSE(lock.is_other_state());  // there was none to be another
  lock.hold_state();
  { const StateFile file(folder.path("new.db"), Database::Access::kCreate); }
  std::filesystem::rename(folder.path("new.db"), name);
  CHECK(lock.is_other_state());
  lock.hold_state();
  CHECK_FALSE(lock.is_other_state());
  std::filesystem::remove(name + "-lock");
  CHECK_THROWS_WITH(StateLock(name), Catch::Contains("found it in use"));
}

TEST_CASE("Each stream has its own mark, the last that was noted") {
  const StateFolder folder;
  const auto name = folder.path("state.db");
  {
    StateLock lock(name);
    lock.note(1, 10.5, {7, 70});
    lock.note(3, 30.5, {9, 90});
    lock.note(1, 10.5, {8, 80});
  }
  StateLock again(name);
  const StateMarks marks(name);
  CHECK(marks.find(record_of(1, 10.5)) == StateMark{8, 80});
  CHECK(marks.find(record_of(3, 30.5)) == StateMark{9, 90});
  // Never noted, beyond all, and another stream that has the id of one.
  for (const auto& record : {record_of(2, 0), record_of(4, 0), record_of(1U << 18U, 0),
                             record_of(UINT32_MAX, 0), record_of(1, 30.5), record_of(3, 10.5)}) {
    CHECK_FALSE(marks.find(record));
  }
  again.note(3, 40.5, {1, 1});
  CHECK_FALSE(StateMarks(name).find(record_of(3, 30.5)));
  CHECK(StateMarks(name).find(record_of(3, 40.5)) == StateMark{1, 1});
}

TEST_CASE("Where there are no marks nothing is known") {
  const StateFolder folder;
  CHECK_FALSE(StateMarks().find(record_of(1, 0)));
  CHECK_FALSE(StateMarks(folder.path("none.db")).find(record_of(1, 0)));
  { const StateLock lock(folder.path("new.db")); }
  CHECK_FALSE(StateMarks(folder.path("new.db")).find(record_of(0, 0)));
}

TEST_CASE("A mark with any bit flipped, or cut anywhere, is none") {
  const StateFolder folder;
  const auto name = folder.path("state.db");
  { StateLock(name).note(1, 10.5, {7, 70}); }
  const auto whole = read_bytes(name + "-lock");
  REQUIRE(whole.size() == 64);
  for (std::size_t bit = 8 * 32; bit < 8 * whole.size(); ++bit) {
    auto damaged = whole;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    write_bytes(name + "-lock", damaged);
    CHECK_FALSE(StateMarks(name).find(record_of(1, 10.5)));
  }
  for (std::size_t size = 0; size < whole.size(); ++size) {
    write_bytes(name + "-lock", whole.substr(0, size));
    CHECK_FALSE(StateMarks(name).find(record_of(1, 10.5)));
  }
  write_bytes(name + "-lock", whole);
  CHECK(StateMarks(name).find(record_of(1, 10.5)) == StateMark{7, 70});
}

}  // namespace
}  // namespace phsic::test
