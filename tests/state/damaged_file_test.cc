// A small state file, damaged in one place after the other: everywhere, or in every so many places
// (stride.h). Whatever is damaged, there is an error, or the stream is what it was after some entry
// of the journal. If that is not the last entry, the damage is reported.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <optional>

#include "state/recovery.h"
#include "state/state_lock.h"
#include "state/verify.h"
#include "state/wal_tail.h"
#include "tests/state/recorder.h"
#include "tests/state/stride.h"

namespace phsic::test {
namespace {

// As small as SQLite has them, so that little of a file is empty.
constexpr int kPage = 512;

const StoredOptions& tiny() {
  static const StoredOptions kOptions = {{"encoder", "hashing:dim=16"},
                                         {"reservoir", "16"},
                                         {"held-back", "4"},
                                         {"rank", "2"},
                                         {"estimator", "phsic"}};
  return kOptions;
}

// What came of opening it as a daemon does.
struct Outcome {
  std::optional<std::string> state;  // none: an error
  bool told = false;                 // was anything found damaged?
  bool is_another = false;           // does it claim to be of another stream?
};

Outcome reopen(const std::string& name) {
  Outcome outcome;
  try {
    const auto tail = inspect_wal(name);
    const StateMarks marks(name);
    const StateFile file(name, Database::Access::kRead);
    outcome.told = tail.lost_commits > 0 || tail.header_is_bad || !file.check().empty();
    const auto stream = open_stream(tiny());
    const auto recovery = recover(file, Recorder::kName, *stream, Recorder::kIdWindow, marks);
    outcome.told = outcome.told || !recovery.damage.empty();
    outcome.state = state_of(*stream);
  } catch (const IdentityError&) {
    outcome.is_another = true;
  } catch (const Error&) {
    outcome.state.reset();
  }
  return outcome;
}

void make_small(const std::string& name) {
  const Database database(name, Database::Access::kWrite);
  database.run("PRAGMA journal_mode = DELETE");
  database.run("PRAGMA page_size = " + std::to_string(kPage));
  database.run("VACUUM");
  database.run("PRAGMA journal_mode = WAL");
}

// A stream with its state after each entry.
struct History {
  Recorder recorder{tiny(), 7};
  std::vector<std::string> states;  // states[n]: after n entries

  History() {
    states.push_back(state_of(recorder.stream()));
    const auto remember = [this] { states.push_back(state_of(recorder.stream())); };
    for (int round = 0; round < 2; ++round) {
      for (int i = 0; i < 2; ++i) {
        recorder.learn(4);
        remember();
      }
      recorder.freeze(Stream::Extent::kWithoutHeldBack);
      remember();
      recorder.adopt();
      remember();
      recorder.take_snapshot();
    }
    recorder.learn(3);
    remember();
  }

  [[nodiscard]] bool is_whole(const Outcome& outcome) const {
    return outcome.state == states.back();
  }
  [[nodiscard]] bool is_prefix(const Outcome& outcome) const {
    return std::find(states.begin(), states.end(), *outcome.state) != states.end();
  }
};

// The files as they lie there when nobody has them open.
struct Files {
  std::string database;
  std::string log;
  std::string marks;
};

Files read_files(const std::string& name) {
  const auto read_if_there = [](const std::string& file) {
    return std::filesystem::exists(file) ? read_bytes(file) : std::string();
  };
  return {read_bytes(name), read_if_there(name + "-wal"), read_if_there(name + "-lock")};
}

// Marks the lock as a daemon does that has kept everything.
void note_end(const History& history, const std::string& name) {
  const StateFile file(name, Database::Access::kRead);
  const auto record = file.find(Recorder::kName);
  StateLock(name).note(record->id, record->created,
                       {history.recorder.journal().size(), history.recorder.pairs()});
}

// After an orderly end: the journal from the first entry on, or snapshots and what follows.
Files files_at_rest(const History& history, const StateFolder& folder, bool whole) {
  const auto name = folder.path("made.db");
  {
    StateFile file(name, Database::Access::kCreate);
    const auto& snapshots = history.recorder.snapshots();
    history.recorder.write(file, whole ? 0 : snapshots.begin()->first, whole);
    if (!whole) {
      const auto& [number, snapshot] = *snapshots.rbegin();
      file.transact([&, &n = number, &s = snapshot] {
        file.put_snapshot(1, n, s.pairs, s.bytes, {2, false});
      });
    }
  }
  make_small(name);
  note_end(history, name);
  auto files = read_files(name);
  std::filesystem::remove(name);
  return files;
}

// The files of a process that was killed: one commit for each entry, and only the schema is in the
// database yet.
Files files_of_a_killed(const History& history, const StateFolder& folder) {
  const auto name = folder.path("killed.db");
  {
    StateFile file(name, Database::Access::kCreate);
    file.put_stream(Recorder::kName, identity_text(history.recorder.stream().identity()), "{}");
  }
  make_small(name);
  StateFile file(name, Database::Access::kWrite);
  const auto& journal = history.recorder.journal();
  const auto& snapshots = history.recorder.snapshots();
  for (std::size_t i = 0; i < journal.size(); ++i) {
    file.transact([&] { file.append(1, i + 1, journal[i].pairs, journal[i].bytes); });
    if (const auto taken = snapshots.find(i + 1); taken != snapshots.end()) {
      const auto& [pairs, bytes] = taken->second;
      file.transact([&, &p = pairs, &b = bytes] { file.put_snapshot(1, i + 1, p, b, {2, false}); });
    }
  }
  note_end(history, name);
  return read_files(name);
}

Outcome reopen(const Files& files, const StateFolder& folder) {
  const auto name = folder.path("state.db");
  for (const char* suffix : {"", "-wal", "-shm", "-lock"}) std::filesystem::remove(name + suffix);
  write_bytes(name, files.database);
  if (!files.log.empty()) write_bytes(name + "-wal", files.log);
  write_bytes(name + "-lock", files.marks);
  return reopen(name);
}

void flip(std::string& bytes, std::size_t place) {
  bytes[place] = static_cast<char>(bytes[place] ^ (1 << (place * 5 % 8)));
}

struct Tally {
  std::size_t errors = 0;
  std::size_t told = 0;
  std::size_t unharmed = 0;
};

void check(const History& history, const Outcome& outcome, Tally& tally) {
  if (!outcome.state) {
    ++tally.errors;
    return;
  }
  REQUIRE(history.is_prefix(outcome));
  if (history.is_whole(outcome)) {
    ++tally.unharmed;
    return;
  }
  REQUIRE(outcome.told);
  ++tally.told;
}

// Flips a bit of one byte of one of the files.
void flip_at(std::size_t place, const History& history, const StateFolder& folder,
             const Files& files, std::string Files::*which, Tally& tally) {
  INFO("byte " << place << " of " << (files.*which).size());
  auto damaged = files;
  flip(damaged.*which, place);
  check(history, reopen(damaged, folder), tally);
}

// Flips a bit of every so many bytes of one of the files, one at a time; of every byte if they are
// few.
Tally flip_everywhere(const History& history, const StateFolder& folder, const Files& files,
                      std::string Files::*which) {
  const auto sound = reopen(files, folder);
  REQUIRE(history.is_whole(sound));
  REQUIRE_FALSE(sound.told);
  Tally tally;
  constexpr std::size_t kFew = 1000;
  const auto [step, first] = (files.*which).size() < kFew ? Stride() : damage_stride();
  for (std::size_t place = first; place < (files.*which).size(); place += step) {
    flip_at(place, history, folder, files, which, tally);
  }
  return tally;
}

// `all` is the least count if every place is damaged. At large steps, as under the sanitizers, a
// run may miss all such places.
bool is_enough(std::size_t count, std::size_t all) {
  const auto step = damage_stride().step;
  return step == 1 ? count > all : count > 0 || all < 20 * step;
}

// Damage in a few places only makes the file another kind of file, and a run may miss these places.
bool is_refused_without_its_first_byte(const History& history, const StateFolder& folder,
                                       const Files& files) {
  Tally tally;
  flip_at(0, history, folder, files, &Files::database, tally);
  return tally.errors == 1;
}

Tally cut_everywhere(const History& history, const StateFolder& folder, const Files& files,
                     std::string Files::*which) {
  Tally tally;
  const auto [step, first] = damage_stride();
  for (std::size_t place = 1 + first; place < (files.*which).size(); place += step) {
    INFO("cut at byte " << place << " of " << (files.*which).size());
    auto damaged = files;
    (damaged.*which).resize(place);
    const auto outcome = reopen(damaged, folder);
    if (outcome.state) REQUIRE(outcome.told);
    check(history, outcome, tally);
  }
  return tally;
}

TEST_CASE("A bit of a journal flipped at every so many bytes changes no statistics in silence") {
  const History history;
  const StateFolder folder;
  const auto files = files_at_rest(history, folder, true);
  const auto tally = flip_everywhere(history, folder, files, &Files::database);
  // Each of the ways was taken.
  CHECK(is_refused_without_its_first_byte(history, folder, files));
  CHECK(is_enough(tally.told, 1000));
  CHECK(is_enough(tally.unharmed, 1000));
}

TEST_CASE("A bit of a snapshot flipped at every so many bytes changes no statistics in silence") {
  const History history;
  const StateFolder folder;
  const auto files = files_at_rest(history, folder, false);
  const auto tally = flip_everywhere(history, folder, files, &Files::database);
  CHECK(is_refused_without_its_first_byte(history, folder, files));
  CHECK(is_enough(tally.unharmed, 1000));
}

TEST_CASE(
    "A bit flipped at every so many bytes of a killed daemon's log changes nothing in silence") {
  const History history;
  const StateFolder folder;
  const auto files = files_of_a_killed(history, folder);
  const auto tally = flip_everywhere(history, folder, files, &Files::log);
  CHECK(is_enough(tally.told, 1000));
  // Beside a log the database is the schema, and older than the log says it is.
  flip_everywhere(history, folder, files, &Files::database);
}

TEST_CASE("A state file that is cut at every so many bytes is never taken for whole") {
  const History history;
  const StateFolder folder;
  for (const bool whole : {true, false}) {
    const auto files = files_at_rest(history, folder, whole);
    const auto tally = cut_everywhere(history, folder, files, &Files::database);
    CHECK(is_enough(tally.errors, 1000));
  }
}

TEST_CASE(
    "A log that is cut at every so many bytes gives the journal up to there, and is told of") {
  const History history;
  const StateFolder folder;
  const auto files = files_of_a_killed(history, folder);
  const auto tally = cut_everywhere(history, folder, files, &Files::log);
  CHECK(is_enough(tally.told, 1000));
  CHECK(tally.errors == 0);
}

// As after a power failure: what was not synced may be missing, and nothing in between.
TEST_CASE("Without marks a log that ends early gives the journal up to there") {
  const History history;
  const StateFolder folder;
  auto files = files_of_a_killed(history, folder);
  files.marks.clear();
  std::size_t shortest = history.states.size();
  const auto [step, first] = damage_stride();
  for (std::size_t place = first; place < files.log.size(); place += step) {
    INFO("cut at byte " << place);
    auto damaged = files;
    damaged.log.resize(place);
    const auto outcome = reopen(damaged, folder);
    REQUIRE(outcome.state);
    const auto found = std::find(history.states.begin(), history.states.end(), *outcome.state);
    REQUIRE(found != history.states.end());
    shortest = std::min(shortest, static_cast<std::size_t>(found - history.states.begin()));
  }
  CHECK(shortest == 0);
}

TEST_CASE("Damaged marks do no harm") {
  const History history;
  const StateFolder folder;
  const auto files = files_of_a_killed(history, folder);
  const auto tally = flip_everywhere(history, folder, files, &Files::marks);
  CHECK(tally.errors + tally.told == 0);
}

// What the tool says of a file is no better than what a daemon makes of it.
TEST_CASE("Verifying finds all damage that recovery finds") {
  const History history;
  const StateFolder folder;
  const auto name = folder.path("state.db");
  const auto finds_something = [&] {
    try {
      return !verify(name).problems.empty();
    } catch (const Error&) {
      return true;
    }
  };
  const auto at_rest = files_at_rest(history, folder, true);
  const auto [step, first] = damage_stride();
  for (std::size_t place = first; place < at_rest.database.size(); place += step) {
    INFO("byte " << place);
    auto damaged = at_rest;
    flip(damaged.database, place);
    const auto outcome = reopen(damaged, folder);
    // The tool has no encoders, so it cannot say that the identity is not theirs.
    if (!outcome.is_another && (!outcome.state || !history.is_whole(outcome))) {
      CHECK(finds_something());
    }
  }
  const auto killed = files_of_a_killed(history, folder);
  for (std::size_t place = 1 + first; place < killed.log.size(); place += 8 * step) {
    INFO("cut at byte " << place);
    auto damaged = killed;
    damaged.log.resize(place);
    static_cast<void>(reopen(damaged, folder));
    CHECK(finds_something());
  }
  static_cast<void>(reopen(at_rest, folder));
  CHECK(verify(name).problems.empty());
  CHECK(verify(name).entries == history.recorder.journal().size());
}

}  // namespace
}  // namespace phsic::test
