#include "state/replacement.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <map>

#include "tests/state/recorder.h"

namespace phsic::test {
namespace {

namespace fs = std::filesystem;

// What lies in a folder: names of files, and what is in them.
std::map<std::string, std::string> content_of(const StateFolder& folder) {
  std::map<std::string, std::string> content;
  for (const auto& entry : fs::directory_iterator(folder.path(""))) {
    content[entry.path().filename()] = read_bytes(entry.path());
  }
  return content;
}

TEST_CASE("A log without its file is kept under a name of its own") {
  const StateFolder folder;
  const auto name = folder.path("state.db");
  // Not the first free number: a user who removed .old-1 may still rely on .old-2.
  write_bytes(name + ".old-2", "older");
  write_bytes(name + "-wal", "log");
  Replacement replacement(name);
  CHECK(replacement.finish() == name + ".old-3");
  CHECK(read_bytes(name + ".old-3-wal") == "log");
  CHECK_FALSE(fs::exists(name + ".old-2-wal"));
}

TEST_CASE("A file that is replaced is kept with its log under a new name") {
  const StateFolder folder;
  const auto name = folder.path("state.db");
  for (int number = 1; number <= 2; ++number) {
    write_bytes(name, "old");
    write_bytes(name + "-wal", "log");
    Replacement replacement(name);
    replacement.made().put_stream("new", "", "{}");
    CHECK(read_bytes(name) == "old");
    const auto old = replacement.finish();
    CHECK(old == name + ".old-" + std::to_string(number));
    CHECK(read_bytes(old) == "old");
    CHECK(read_bytes(old + "-wal") == "log");
    CHECK_FALSE(fs::exists(name + "-wal"));
    CHECK(StateFile(name, Database::Access::kRead).find("new"));
  }
}

TEST_CASE("A replacement that is given up leaves everything as it was") {
  const StateFolder folder;
  const auto name = folder.path("state.db");
  write_bytes(name, "old");
  write_bytes(name + "-wal", "log");
  const auto before = content_of(folder);
  { const Replacement replacement(name); }
  CHECK(content_of(folder) == before);
  CHECK(finish_replacement(name).empty());
  CHECK(content_of(folder) == before);
}

TEST_CASE("What a process left of a replacement when it ended does not hinder the next one") {
  const StateFolder folder;
  const auto name = folder.path("state.db");
  write_bytes(name, "old");
  for (const char* suffix : {".new", ".new-wal", ".new-shm"}) write_bytes(name + suffix, "half");
  Replacement replacement(name);
  replacement.made().put_stream("new", "", "{}");
  replacement.finish();
  CHECK(content_of(folder).size() == 2);
  CHECK(StateFile(name, Database::Access::kRead).find("new"));
}

TEST_CASE("A replacement goes on from wherever the process ended in the middle of it") {
  struct Step {
    std::map<std::string, std::string> files;
  };
  // As finish() leaves them, one renaming after the other. There was an earlier one, too.
  const std::vector<Step> steps = {
      {{{"", "old"}, {"-wal", "log"}, {"-shm", "index"}, {".next-2", "new"}}},
      {{{"-wal", "log"}, {"-shm", "index"}, {".next-2", "new"}, {".old-2", "old"}}},
      {{{"-shm", "index"}, {".next-2", "new"}, {".old-2", "old"}, {".old-2-wal", "log"}}},
      {{{".next-2", "new"}, {".old-2", "old"}, {".old-2-wal", "log"}}},
  };
  for (const auto& [files] : steps) {
    const StateFolder folder;
    const auto name = folder.path("state.db");
    write_bytes(name + ".old-1", "oldest");
    write_bytes(name + ".old-1-wal", "its log");
    for (const auto& [ending, content] : files) write_bytes(name + ending, content);
    CHECK(finish_replacement(name) == name + ".old-2");
    CHECK(content_of(folder) ==
          std::map<std::string, std::string>{{"state.db", "new"},
                                             {"state.db.old-1", "oldest"},
                                             {"state.db.old-1-wal", "its log"},
                                             {"state.db.old-2", "old"},
                                             {"state.db.old-2-wal", "log"}});
    CHECK(finish_replacement(name).empty());
  }
}

}  // namespace
}  // namespace phsic::test
