#include "state/state_file.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <map>

#include "core/random.h"
#include "tests/state/recorder.h"

namespace phsic::test {
namespace {

using Access = Database::Access;

std::string bytes_of(std::uint64_t number) { return "entry " + std::to_string(number); }

// Numbers of the entries that are there, each with the bytes that it should have.
std::vector<std::uint64_t> journal_of(const StateFile& file, std::uint32_t stream) {
  std::vector<std::uint64_t> numbers;
  file.read_journal(stream, 0, false,
                    [&](std::uint64_t number, std::uint64_t, std::span<const char> bytes) {
                      CHECK(std::string(bytes.begin(), bytes.end()) == bytes_of(number));
                      numbers.push_back(number);
                      return true;
                    });
  return numbers;
}

// What lies in a table.
std::int64_t rows_of(const StateFile& file, const std::string& table) {
  return Database(file.file(), Access::kRead).number("SELECT count(*) FROM " + table);
}

// Bytes that a transaction writes.
template <class Work>
std::uintmax_t written_by(StateFile& file, const Work& work) {
  file.settle();
  file.transact(work);
  return std::filesystem::file_size(file.file() + "-wal");
}

TEST_CASE("The newest snapshots are kept, and of the journal what follows on the oldest") {
  Random random(1);
  for (int round = 0; round < 20; ++round) {
    const StateFolder folder;
    StateFile file(folder.path("state.db"), Access::kCreate);
    const StateFile::Keeping keeping = {1 + random.below(4), round % 4 == 0};
    struct Model {
      std::uint64_t last = 0;
      std::uint64_t trimmed = 0;
      std::vector<std::uint64_t> snapshots;  // newest last
    };
    std::map<std::uint32_t, Model> model;
    for (const char* name : {"a", "b", "c"}) model[file.put_stream(name, "x: y\n", "{}")] = {};
    REQUIRE(model.size() == 3);
    for (int step = 0; step < 60; ++step) {
      auto& [id, stream] = *std::next(model.begin(), static_cast<std::ptrdiff_t>(random.below(3)));
      file.transact([&, &stream = stream, &id = id] {
        if (random.below(4) > 0) {
          ++stream.last;
          file.append(id, stream.last, 3, bytes_of(stream.last));
          return;
        }
        file.put_snapshot(id, stream.last, 3 * stream.last,
                          "snapshot " + std::to_string(stream.last), keeping);
        stream.snapshots.push_back(stream.last);
        if (stream.snapshots.size() > keeping.snapshots) {
          stream.snapshots.erase(stream.snapshots.begin());
        }
        if (!keeping.whole_journal) stream.trimmed = stream.snapshots.front();
      });
      // Parts of the other snapshots may be left for a while.
      if (random.below(3) == 0) file.transact([&] { file.remove_remains(0); });
    }
    while (file.may_have_remains()) file.transact([&] { file.remove_remains(0); });
    CHECK(rows_of(file, "snapshot_part") == rows_of(file, "snapshot"));
    CHECK(file.check().empty());
    for (const auto& [id, stream] : model) {
      const auto snapshots = file.snapshots(id);
      REQUIRE(snapshots.size() == stream.snapshots.size());
      for (std::size_t i = 0; i < snapshots.size(); ++i) {
        const auto expected = stream.snapshots[snapshots.size() - 1 - i];
        CHECK(snapshots[i].number == expected);
        CHECK(snapshots[i].pairs == 3 * expected);
        CHECK(file.snapshot(snapshots[i]) == "snapshot " + std::to_string(expected));
      }
      std::vector<std::uint64_t> expected;
      for (auto n = stream.trimmed + 1; n <= stream.last; ++n) expected.push_back(n);
      CHECK(journal_of(file, id) == expected);
      const auto extent = file.journal(id);
      CHECK(extent.entries == expected.size());
      CHECK(extent.pairs == 3 * expected.size());
      CHECK(extent.first == (expected.empty() ? 0 : expected.front()));
      CHECK(extent.last == (expected.empty() ? 0 : expected.back()));
      const auto later = file.journal(id, stream.trimmed + 1);
      CHECK(later.entries == (expected.empty() ? 0 : expected.size() - 1));
    }
  }
}

TEST_CASE("A large snapshot comes back from its parts") {
  const StateFolder folder;
  StateFile file(folder.path("state.db"), Access::kCreate);
  const auto id = file.put_stream("a", "", "{}");
  std::string large(2 * StateFile::kPartBytes + 5, '\0');
  for (std::size_t i = 0; i < large.size(); ++i) large[i] = static_cast<char>(i * 7919 >> 8U);
  file.transact([&] { file.put_snapshot(id, 0, 0, large, {}); });
  const auto record = file.snapshots(id).at(0);
  CHECK(record.bytes == large.size());
  CHECK((file.snapshot(record) == large));
}

TEST_CASE("An old snapshot and its journal go in later commits, each of which writes little") {
  constexpr std::uintmax_t kLittle = StateFile::kPartBytes / 8;
  const StateFolder folder;
  StateFile file(folder.path("state.db"), Access::kCreate);
  const auto id = file.put_stream("a", "", "{}");
  const std::string large(3 * StateFile::kPartBytes, 's');
  const std::string entry(100'000, 'e');
  file.transact([&] {
    file.put_snapshot(id, 0, 0, large, {1, false});
    for (std::uint64_t number = 1; number <= 100; ++number) file.append(id, number, 1, entry);
  });
  const auto written = written_by(file, [&] {
    file.put_snapshot(id, 100, 100, std::string("s"), {1, false});
  });
  CHECK(written < kLittle);
  CHECK(file.snapshots(id).size() == 1);
  CHECK(rows_of(file, "snapshot_part") == 4);
  int commits = 0;
  for (; file.may_have_remains(); ++commits) {
    CHECK(written_by(file, [&] { file.remove_remains(0); }) < kLittle);
  }
  CHECK(commits > 5);
  CHECK(rows_of(file, "snapshot_part") == 1);
  CHECK(rows_of(file, "journal") == 0);
}

TEST_CASE("What is removed is overwritten where that costs nothing") {
  const StateFolder folder;
  const auto name = folder.path("state.db");
  const std::string secret = "nobody else is to read this";
  StateFile file(name, Access::kCreate);
  const auto id = file.put_stream("a", "", "{}");
  file.transact([&] {
    file.append(id, 1, 1, secret);
    file.append(id, 2, 1, bytes_of(2));
  });
  file.settle();
  CHECK(read_bytes(name).find(secret) != std::string::npos);
  file.transact([&] { file.put_snapshot(id, 1, 1, std::string("s"), {1, false}); });
  while (file.may_have_remains()) file.transact([&] { file.remove_remains(0); });
  file.settle();
  CHECK(journal_of(file, id) == std::vector<std::uint64_t>{2});
  CHECK(read_bytes(name).find(secret) == std::string::npos);
}

TEST_CASE("Nothing of a snapshot is removed whose successor was taken back, or that is written") {
  const StateFolder folder;
  StateFile file(folder.path("state.db"), Access::kCreate);
  const auto id = file.put_stream("a", "", "{}");
  file.transact([&] {
    file.append(id, 1, 1, bytes_of(1));
    file.put_snapshot(id, 0, 0, std::string("first"), {1, false});
  });
  CHECK_THROWS_WITH(file.transact([&] {
    file.put_snapshot(id, 1, 1, std::string("second"), {1, false});
    throw Error("half-way");
  }),
                    "half-way");
  const auto unfinished = file.next_snapshot();
  file.transact([&] { file.put_part(unfinished, 0, std::string("third")); });
  while (file.may_have_remains()) file.transact([&] { file.remove_remains(unfinished); });
  CHECK(file.snapshot(file.snapshots(id).at(0)) == "first");
  CHECK(journal_of(file, id) == std::vector<std::uint64_t>{1});
  file.transact([&] { file.finish_snapshot(unfinished, id, 1, 1, 5, {1, false}); });
  while (file.may_have_remains()) file.transact([&] { file.remove_remains(0); });
  CHECK(file.snapshot(file.snapshots(id).at(0)) == "third");
  CHECK(rows_of(file, "snapshot_part") == 1);
}

TEST_CASE("Parts of a snapshot that was never finished go after the file is opened") {
  const StateFolder folder;
  const auto name = folder.path("state.db");
  {
    StateFile file(name, Access::kCreate);
    const auto id = file.put_stream("a", "", "{}");
    const auto snapshot = file.next_snapshot();
    file.transact([&] { file.put_part(snapshot, 0, std::string("abandoned")); });
    CHECK(file.snapshots(id).empty());
    CHECK(file.check().empty());
    CHECK(file.next_snapshot() == snapshot + 1);
  }
  StateFile file(name, Access::kWrite);
  CHECK(file.check().empty());
  while (file.may_have_remains()) file.transact([&] { file.remove_remains(0); });
  CHECK(rows_of(file, "snapshot_part") == 0);
}

TEST_CASE("What fails half-way leaves nothing behind") {
  const StateFolder folder;
  StateFile file(folder.path("state.db"), Access::kCreate);
  CHECK_THROWS_WITH(file.transact([&] {
    const auto id = file.put_stream("a", "", "{}");
    file.append(id, 1, 1, std::string("x"));
    throw Error("half-way");
  }),
                    "half-way");
  CHECK(file.streams().empty());
  CHECK(file.check().empty());
  // The same entry twice is an error of SQLite, after which the next one goes.
  const auto id = file.put_stream("a", "", "{}");
  file.append(id, 1, 1, bytes_of(1));
  CHECK_THROWS_AS(file.append(id, 1, 1, bytes_of(1)), DatabaseError);
  file.append(id, 2, 1, bytes_of(2));
  CHECK(journal_of(file, id) == std::vector<std::uint64_t>{1, 2});
}

TEST_CASE("A stream that is put again keeps its number and gets the new options") {
  const StateFolder folder;
  StateFile file(folder.path("state.db"), Access::kCreate);
  const auto id = file.put_stream("a", "x: 1\n", R"({"rank":"3"})");
  file.put_stream("b", "", "{}");
  CHECK(file.put_stream("a", "x: 2\n", "{}") == id);
  const auto record = file.find("a");
  REQUIRE(record);
  CHECK(record->identity == "x: 2\n");
  CHECK(record->options == "{}");
  CHECK(record->created > 1.6e9);
  CHECK(file.streams().size() == 2);
  CHECK_FALSE(file.find("c"));
}

TEST_CASE("A stream that is removed takes all that is its own along, and nothing else") {
  const StateFolder folder;
  StateFile file(folder.path("state.db"), Access::kCreate);
  const auto a = file.put_stream("a", "", "{}");
  const auto b = file.put_stream("b", "", "{}");
  file.transact([&] {
    for (const auto id : {a, b}) {
      file.put_snapshot(id, 0, 0, std::string("s"), {});
      file.append(id, 1, 1, bytes_of(1));
    }
    file.remove_stream(a);
  });
  CHECK_FALSE(file.find("a"));
  CHECK(journal_of(file, a).empty());
  CHECK(file.snapshots(a).empty());
  CHECK(journal_of(file, b).size() == 1);
  CHECK(file.snapshot(file.snapshots(b).at(0)) == "s");
  CHECK(file.check().empty());
}

TEST_CASE("The last numbers of the feed are kept") {
  const StateFolder folder;
  StateFile file(folder.path("state.db"), Access::kCreate);
  file.put_feed("chat/score", 5);
  file.put_feed("chat/event", 1);
  file.put_feed("chat/score", 9);
  CHECK(file.feed() == std::map<std::string, std::uint64_t>{{"chat/event", 1}, {"chat/score", 9}});
}

TEST_CASE("A reader sees one moment while another writes") {
  const StateFolder folder;
  const auto name = folder.path("state.db");
  StateFile writer(name, Access::kCreate);
  const auto id = writer.put_stream("a", "", "{}");
  writer.append(id, 1, 1, bytes_of(1));
  const StateFile reader(name, Access::kRead);
  reader.look([&] {
    CHECK(reader.journal(id).entries == 1);
    writer.append(id, 2, 1, bytes_of(2));
    CHECK(reader.journal(id).entries == 1);
  });
  CHECK(reader.journal(id).entries == 2);
}

TEST_CASE("A copy has everything, and is made where nothing is") {
  const StateFolder folder;
  StateFile file(folder.path("state.db"), Access::kCreate);
  const auto id = file.put_stream("a", "", "{}");
  file.append(id, 1, 1, bytes_of(1));
  file.back_up(folder.path("copy.db"));
  CHECK_THROWS_WITH(file.back_up(folder.path("copy.db")), Catch::Contains("expected none"));
  const StateFile copy(folder.path("copy.db"), Access::kRead);
  CHECK(journal_of(copy, id).size() == 1);
  CHECK(copy.check().empty());
}

TEST_CASE("What is no state of phsicd is refused with what it is") {
  const StateFolder folder;
  const auto name = folder.path("state.db");
  CHECK_THROWS_AS(StateFile(name, Access::kRead), DatabaseError);
  { const Database other(name, Access::kCreate); }
  {
    const Database other(name, Access::kWrite);
    other.run("CREATE TABLE t (a)");
  }
  for (const auto access : {Access::kRead, Access::kWrite, Access::kCreate}) {
    CHECK_THROWS_WITH(StateFile(name, access), Catch::Contains("found application id 0x0"));
  }
  const auto later = folder.path("later.db");
  { const StateFile file(later, Access::kCreate); }
  Database(later, Access::kWrite).run("PRAGMA user_version = 99");
  for (const auto access : {Access::kRead, Access::kWrite, Access::kCreate}) {
    CHECK_THROWS_WITH(StateFile(later, access), Catch::Contains("found schema version 99"));
  }
  write_bytes(folder.path("text.db"), "this is no database, and it is long enough to be read");
  CHECK_THROWS_AS(StateFile(folder.path("text.db"), Access::kRead), DatabaseError);
}

TEST_CASE("Differences of identities are told with both values") {
  CHECK(identity_differences("a: 1\nb: 2\n", "a: 1\nb: 2\n").empty());
  CHECK(identity_differences("views: hashing, words\nview words, seed: 1\n", "seed: 1\n") ==
        std::vector<std::string>{"views: found hashing, words; expected one encoder"});
  CHECK(identity_differences("views: a, b\nview a, seed: 1\n", "views: a, c\nview a, seed: 2\n") ==
        std::vector<std::string>{"views: found a, b; expected a, c"});
  CHECK(identity_differences("a: 1\nb: 2\n", "a: 3\nc: 4\n") ==
        std::vector<std::string>{"a: found 1, expected 3", "c: found nothing, expected 4",
                                 "b: found 2, expected nothing"});
  CHECK(identity_text({{"a", "one\ntwo"}, {"b", ""}}) == "a: one two\nb: \n");
}

}  // namespace
}  // namespace phsic::test
