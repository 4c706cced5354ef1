// Logs that SQLite itself has written, damaged in every way; SQLite says what it still reads.
#include "state/wal_tail.h"

#include <sqlite3.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <vector>

#include "core/error.h"
#include "tests/state/recorder.h"
#include "tests/state/stride.h"

namespace phsic::test {
namespace {

constexpr std::size_t kHeader = 32;
constexpr std::size_t kFrameHeader = 24;
constexpr std::size_t kPage = 4096;
constexpr std::size_t kFrame = kFrameHeader + kPage;

class Database {
 public:
  explicit Database(const std::string& path, const std::string& page_size = "4096") {
    REQUIRE(sqlite3_open(path.c_str(), &handle_) == SQLITE_OK);
    run("PRAGMA page_size = " + page_size +
        "; PRAGMA journal_mode = wal; PRAGMA wal_autocheckpoint = 0");
  }
  ~Database() { sqlite3_close(handle_); }
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  Database(Database&&) = delete;
  Database& operator=(Database&&) = delete;

  void run(const std::string& sql) const {
    INFO(sql);
    REQUIRE(sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK);
  }

  // A number of the first row.
  [[nodiscard]] std::int64_t ask(const std::string& sql, int column = 0) const {
    sqlite3_stmt* statement = nullptr;
    REQUIRE(sqlite3_prepare_v2(handle_, sql.c_str(), -1, &statement, nullptr) == SQLITE_OK);
    REQUIRE(sqlite3_step(statement) == SQLITE_ROW);
    const std::int64_t answer = sqlite3_column_int64(statement, column);
    sqlite3_finalize(statement);
    return answer;
  }

  // Commit number k of some pages.
  void commit(int k) const {
    run("INSERT INTO t VALUES(" + std::to_string(k) + ", randomblob(" +
        std::to_string(1000 + 3000 * (k % 4)) + "))");
  }

 private:
  sqlite3* handle_ = nullptr;
};

// A database and its log, as a crash would have left them.
struct Files {
  std::string database;
  std::string log;

  [[nodiscard]] std::size_t frames() const { return (log.size() - kHeader) / kFrame; }
  // Of frame i, from 0.
  [[nodiscard]] static std::size_t frame_at(std::size_t i) { return kHeader + i * kFrame; }
  [[nodiscard]] bool ends_commit(std::size_t i) const {
    return log.compare(frame_at(i) + 4, 4, std::string(4, '\0')) != 0;
  }
};

constexpr int kCommits = 8;

// The first one is the table's.
Files some_commits(const std::string& page_size = std::to_string(kPage)) {
  const StateFolder folder;
  const std::string path = folder.path("db");
  const Database database(path, page_size);
  database.run("CREATE TABLE t(k INTEGER PRIMARY KEY, bytes BLOB)");
  for (int k = 1; k < kCommits; ++k) database.commit(k);
  return {read_bytes(path), read_bytes(path + "-wal")};
}

WalTail inspect(const Files& files) {
  const StateFolder folder;
  write_bytes(folder.path("db"), files.database);
  write_bytes(folder.path("db-wal"), files.log);
  const WalTail tail = inspect_wal(folder.path("db"));
  // Only reads.
  REQUIRE(read_bytes(folder.path("db-wal")) == files.log);
  // SQLite reads as many frames as we say.
  const Database database(folder.path("db"));
  REQUIRE(database.ask("SELECT count(*) FROM sqlite_master") >= 0);
  REQUIRE(database.ask("PRAGMA wal_checkpoint", 1) == std::int64_t(tail.frames));
  return tail;
}

WalTail expected(std::uint64_t frames, std::uint64_t lost) { return {frames, lost, false}; }

Files flipped(const Files& files, std::size_t at) {
  Files bent = files;
  bent.log[at] = static_cast<char>(bent.log[at] ^ 0x10);
  return bent;
}

// Frames up to the last commit that ends before frame `end`, and commits that end at it or later.
std::pair<std::uint64_t, std::uint64_t> split_at(const Files& files, std::size_t end) {
  std::uint64_t frames = 0;
  std::uint64_t later = 0;
  for (std::size_t i = 0; i < files.frames(); ++i) {
    if (!files.ends_commit(i)) continue;
    if (i < end) {
      frames = i + 1;
    } else {
      ++later;
    }
  }
  return {frames, later};
}

TEST_CASE("A log that is whole has lost nothing") {
  const Files files = some_commits();
  REQUIRE(split_at(files, 0).second == kCommits);
  REQUIRE(files.frames() > kCommits);
  CHECK(inspect(files) == expected(files.frames(), 0));
}

TEST_CASE("Pages of every size are read") {
  for (const char* size : {"512", "1024", "65536"}) {
    CAPTURE(size);
    const Files files = some_commits(size);
    const WalTail tail = inspect(files);
    CHECK(tail.frames == (files.log.size() - kHeader) / (kFrameHeader + std::stoul(size)));
    CHECK(tail.lost_commits == 0);
    CHECK(!tail.header_is_bad);
  }
}

TEST_CASE("Where there is no log, or none but a header, nothing is lost") {
  const Files files = some_commits();
  const StateFolder folder;
  CHECK(inspect_wal(folder.path("db")) == WalTail{});
  for (const std::size_t size : {0, 1, 31, 32}) {
    CAPTURE(size);
    CHECK(inspect({files.database, files.log.substr(0, size)}) == WalTail{});
    CHECK(inspect({files.database, std::string(size, '\0')}) == WalTail{});
  }
}

TEST_CASE("Whatever is flipped in a frame, its commit and all later ones are lost") {
  const Files files = some_commits();
  for (std::size_t i = 0; i < files.frames(); ++i) {
    const auto [frames, later] = split_at(files, i);
    CAPTURE(i, frames, later);
    const std::size_t frame = Files::frame_at(i);
    // In the page, and in the checksums.
    for (const std::size_t at : {24, 1000, int(kFrame) - 1, 16, 23}) {
      CHECK(inspect(flipped(files, frame + at)) == expected(frames, later));
    }
    // In the page's number, and in the database size: those of the commit's end still are not 0.
    CHECK(inspect(flipped(files, frame)) == expected(frames, later));
    if (files.ends_commit(i)) {
      CHECK(inspect(flipped(files, frame + 4)) == expected(frames, later));
    }
    // In the salts: the frame itself belongs to no commit.
    for (const std::size_t at : {8, 15}) {
      CHECK(inspect(flipped(files, frame + at)) ==
            expected(frames, later - (files.ends_commit(i) ? 1 : 0)));
    }
  }
}

TEST_CASE("Every single bit of a frame's header matters") {
  const Files files = some_commits();
  // The last frame of a commit in the middle.
  std::size_t i = files.frames() / 2;
  while (!files.ends_commit(i)) ++i;
  const std::uint64_t after = split_at(files, i).second - 1;
  REQUIRE(after > 0);
  for (std::size_t bit = 0; bit < 8 * kFrameHeader; ++bit) {
    CAPTURE(bit);
    Files bent = files;
    char& byte = bent.log[Files::frame_at(i) + bit / 8];
    byte = static_cast<char>(byte ^ (1 << (bit % 8)));
    const WalTail tail = inspect(bent);
    CHECK(tail.frames == split_at(files, i).first);
    CHECK(tail.lost_commits >= after);
    CHECK(tail.lost_commits <= after + 1);
  }
}

TEST_CASE("Zeros in place of a frame lose what follows") {
  const Files files = some_commits();
  for (std::size_t i = 0; i < files.frames(); ++i) {
    CAPTURE(i);
    Files bent = files;
    bent.log.replace(Files::frame_at(i), kFrame, std::string(kFrame, '\0'));
    CHECK(inspect(bent) == expected(split_at(files, i).first, split_at(files, i + 1).second));
  }
}

TEST_CASE("A log cut at every so many bytes has lost nothing that can be known") {
  // SQLite has to read each of them.
  constexpr std::size_t kCost = 29;
  const Files files = some_commits();
  const auto [step, first] = damage_stride();
  for (std::size_t size = kHeader + kCost * first; size < files.log.size(); size += kCost * step) {
    CAPTURE(size);
    CHECK(inspect({files.database, files.log.substr(0, size)}) ==
          expected(split_at(files, (size - kHeader) / kFrame).first, 0));
  }
}

TEST_CASE("A log that was not written beyond a frame has lost nothing that can be known") {
  const Files files = some_commits();
  for (std::size_t i = 0; i < files.frames(); ++i) {
    CAPTURE(i);
    // Cut there, or as long as ever.
    Files zeros = files;
    zeros.log = files.log.substr(0, Files::frame_at(i));
    CHECK(inspect(zeros) == expected(split_at(files, i).first, 0));
    zeros.log += std::string(3 * kFrame, '\0');
    CHECK(inspect(zeros) == expected(split_at(files, i).first, 0));
  }
}

TEST_CASE("Old frames after the end of a log that was begun anew are no loss") {
  const StateFolder folder;
  const std::string path = folder.path("db");
  const Database database(path);
  database.run("CREATE TABLE t(k INTEGER PRIMARY KEY, bytes BLOB)");
  for (int k = 1; k < kCommits; ++k) database.commit(k);
  const std::size_t size = read_bytes(path + "-wal").size();
  database.run("PRAGMA wal_checkpoint(RESTART)");
  // Nothing new yet: everything is in the database, and the log is still the old one.
  const Files old{read_bytes(path), read_bytes(path + "-wal")};
  CHECK(inspect(old).lost_commits == 0);
  database.commit(100);
  database.commit(101);
  const Files files{read_bytes(path), read_bytes(path + "-wal")};
  REQUIRE(files.log.size() == size);
  REQUIRE(files.log.substr(0, kHeader) != old.log.substr(0, kHeader));
  const WalTail tail = inspect(files);
  CHECK(tail.frames > 0);
  CHECK(tail == expected(tail.frames, 0));
  // The new frames are watched as ever. Frames of the old log do not count as their commits.
  CHECK(inspect(flipped(files, kHeader + 100)) == expected(0, 2));
}

TEST_CASE("Pages of a transaction that was taken back are no loss") {
  const StateFolder folder;
  const std::string path = folder.path("db");
  const Database database(path);
  database.run("PRAGMA cache_size = 2; CREATE TABLE t(k INTEGER PRIMARY KEY, bytes BLOB)");
  database.commit(1);
  const std::size_t size = read_bytes(path + "-wal").size();
  // Too large for the cache, it goes to the log before its end.
  database.run("BEGIN; INSERT INTO t VALUES(2, randomblob(300000)); SELECT 1; ROLLBACK");
  REQUIRE(read_bytes(path + "-wal").size() > size + 10 * kFrame);
  const Files files{read_bytes(path), read_bytes(path + "-wal")};
  CHECK(inspect(files) == expected((size - kHeader) / kFrame, 0));
  database.commit(3);
  const WalTail tail = inspect({read_bytes(path), read_bytes(path + "-wal")});
  CHECK(tail.lost_commits == 0);
  CHECK(tail.frames > (size - kHeader) / kFrame);
}

std::uint32_t word(const std::string& bytes, std::size_t at, bool big) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    value = value << 8 | static_cast<unsigned char>(bytes[at + (big ? i : 3 - i)]);
  }
  return value;
}

// Sums of the words at [begin, end) in big-endian order, added to those at `sums`.
void add_words(const std::string& bytes, std::size_t begin, std::size_t end,
               std::uint32_t (&sums)[2]) {
  for (std::size_t at = begin; at < end; at += 8) {
    sums[0] += word(bytes, at, true) + sums[1];
    sums[1] += word(bytes, at + 4, true) + sums[0];
  }
}

void store(std::string& bytes, std::size_t at, const std::uint32_t (&sums)[2]) {
  for (std::size_t i = 0; i < 8; ++i) {
    bytes[at + i] = static_cast<char>(sums[i / 4] >> (24 - 8 * (i % 4)));
  }
}

TEST_CASE("A log of a machine with the other order of bytes is read") {
  Files files = some_commits();
  REQUIRE(word(files.log, 0, true) == 0x377f0682);
  files.log[3] = static_cast<char>(0x83);
  std::uint32_t sums[2] = {0, 0};
  add_words(files.log, 0, 24, sums);
  store(files.log, 24, sums);
  for (std::size_t i = 0; i < files.frames(); ++i) {
    const std::size_t frame = Files::frame_at(i);
    add_words(files.log, frame, frame + 8, sums);
    add_words(files.log, frame + kFrameHeader, frame + kFrame, sums);
    store(files.log, frame + 16, sums);
  }
  CHECK(inspect(files) == expected(files.frames(), 0));
  CHECK(inspect(flipped(files, kHeader + 100)) == expected(0, kCommits));
}

TEST_CASE("A header with any bit flipped is bad") {
  const Files files = some_commits();
  for (std::size_t bit = 0; bit < 8 * kHeader; ++bit) {
    CAPTURE(bit);
    Files bent = files;
    bent.log[bit / 8] = static_cast<char>(bent.log[bit / 8] ^ (1 << (bit % 8)));
    CHECK(inspect(bent) == WalTail{0, 0, true});
  }
  CHECK(inspect({files.database, "x" + files.log}) == WalTail{0, 0, true});
  CHECK(inspect({files.database, std::string(files.log.size(), '\0')}) == WalTail{0, 0, true});
}

TEST_CASE("A log that cannot be read is an error") {
  const StateFolder folder;
  std::filesystem::create_directory(folder.path("db-wal"));
  CHECK_THROWS_AS(inspect_wal(folder.path("db")), Error);
  CHECK_THROWS_WITH(inspect_wal(folder.path("db")),
                    Catch::Contains("db-wal") && Catch::Contains("Is a directory"));
}

}  // namespace
}  // namespace phsic::test
