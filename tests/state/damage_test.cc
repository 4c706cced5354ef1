// A small state file, damaged in one place after the other. Whatever is damaged: there is an error,
// or a stream that is what it was after some entry of the journal; and if that is not the last one,
// it is told that something is missing.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <numeric>
#include <optional>

#include "state/recovery.h"
#include "state/verify.h"
#include "state/wal_tail.h"
#include "tests/state/recorder.h"

namespace phsic::test {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kWalHeader = 32;
constexpr std::size_t kFrameHeader = 24;

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
    const StateFile file(name, Database::Access::kRead);
    outcome.told = tail.lost_commits > 0 || tail.header_is_bad || !file.check().empty();
    const auto stream = open_stream(tiny());
    const auto recovery = recover(file, Recorder::kName, *stream, Recorder::kIdWindow);
    outcome.told = outcome.told || !recovery.damage.empty();
    outcome.state = state_of(*stream);
  } catch (const IdentityError&) {
    outcome.is_another = true;
  } catch (const Error&) {
    outcome.state.reset();
  }
  return outcome;
}

// A stream with its state after each entry.
struct History {
  Recorder recorder{tiny(), 7};
  std::vector<std::string> states;  // states[n]: after n entries

  History() {
    states.push_back(state_of(recorder.stream()));
    const auto remember = [this] { states.push_back(state_of(recorder.stream())); };
    for (int round = 0; round < 3; ++round) {
      for (int i = 0; i < 3; ++i) {
        recorder.learn(6);
        remember();
      }
      recorder.freeze(Stream::Extent::kWithoutHeldBack);
      remember();
      recorder.adopt();
      remember();
      if (round < 2) recorder.take_snapshot();
    }
    recorder.learn(5);
    remember();
  }

  [[nodiscard]] bool is_whole(const Outcome& outcome) const {
    return outcome.state == states.back();
  }
  [[nodiscard]] bool is_prefix(const Outcome& outcome) const {
    return std::find(states.begin(), states.end(), *outcome.state) != states.end();
  }
};

// The file as it lies there when nobody has it open, and when a process that had was killed.
struct Files {
  std::string database;
  std::string log;
};

Files files_at_rest(const History& history, const Folder& folder, bool whole) {
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
  auto bytes = read_bytes(name);
  std::filesystem::remove(name);
  return {std::move(bytes), ""};
}

// One commit for each entry, none of them in the database yet but for the schema.
Files files_of_a_killed(const History& history, const Folder& folder) {
  const auto name = folder.path("killed.db");
  {
    StateFile file(name, Database::Access::kCreate);
    file.put_stream(Recorder::kName, identity_text(history.recorder.stream().identity()), "{}");
  }
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
  return {read_bytes(name), read_bytes(name + "-wal")};
}

Outcome reopen(const Files& files, const Folder& folder) {
  const auto name = folder.path("state.db");
  for (const char* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(name + suffix);
  write_bytes(name, files.database);
  if (!files.log.empty()) write_bytes(name + "-wal", files.log);
  return reopen(name);
}

// The first ones all, of the rest some.
std::vector<std::size_t> places(std::size_t size, std::size_t all, std::size_t some) {
  std::vector<std::size_t> chosen(std::min(size, all));
  std::iota(chosen.begin(), chosen.end(), 0);
  Random random(11);
  for (std::size_t i = 0; size > all && i < some; ++i) {
    chosen.push_back(all + random.below(size - all));
  }
  return chosen;
}

void flip(std::string& bytes, std::size_t place) {
  bytes[place] = static_cast<char>(bytes[place] ^ (1 << (place * 5 % 8)));
}

struct Tally {
  std::size_t errors = 0;
  std::size_t told = 0;
  std::size_t unharmed = 0;
};

// `may_be_silent`: may it have lost the end of the journal without a word?
void check(const History& history, const Outcome& outcome, bool may_be_silent, Tally& tally) {
  if (!outcome.state) {
    ++tally.errors;
    return;
  }
  REQUIRE(history.is_prefix(outcome));
  if (history.is_whole(outcome)) {
    ++tally.unharmed;
    return;
  }
  if (!may_be_silent) REQUIRE(outcome.told);
  ++tally.told;
}

TEST_CASE("A flipped bit of a state file changes no statistics in silence") {
  const History history;
  const Folder folder;
  for (const bool whole : {true, false}) {
    const auto files = files_at_rest(history, folder, whole);
    const auto sound = reopen(files, folder);
    REQUIRE(history.is_whole(sound));
    REQUIRE_FALSE(sound.told);
    Tally tally;
    for (const auto place : places(files.database.size(), whole ? kPage : 200, 1200)) {
      INFO((whole ? "journal" : "snapshots") << ", byte " << place);
      auto damaged = files;
      flip(damaged.database, place);
      check(history, reopen(damaged, folder), false, tally);
    }
    // Each of the ways was taken.
    CHECK(tally.errors > 50);
    CHECK(tally.unharmed > 100);
    CHECK((!whole || tally.told > 50));
  }
}

TEST_CASE("A state file that is cut short is never taken for whole") {
  const History history;
  const Folder folder;
  const auto files = files_at_rest(history, folder, true);
  Tally tally;
  for (const auto place : places(files.database.size(), 600, 400)) {
    INFO("cut at byte " << place);
    auto damaged = files;
    damaged.database.resize(place);
    // Nothing at all is a file that was not written yet.
    if (place == 0) continue;
    const auto outcome = reopen(damaged, folder);
    if (outcome.state) REQUIRE(outcome.told);
    check(history, outcome, false, tally);
  }
  CHECK(tally.errors > 500);
}

TEST_CASE("A flipped bit of the log that a killed daemon leaves changes nothing in silence") {
  const History history;
  const Folder folder;
  const auto files = files_of_a_killed(history, folder);
  const auto sound = reopen(files, folder);
  REQUIRE(history.is_whole(sound));
  REQUIRE_FALSE(sound.told);
  const auto last_frame = files.log.size() - kPage - kFrameHeader;
  Tally tally;
  for (const auto place : places(files.log.size(), kWalHeader + 100, 1000)) {
    INFO("byte " << place << " of the log");
    auto damaged = files;
    flip(damaged.log, place);
    // There the damage looks like a commit that never finished.
    const bool is_last_header = place >= last_frame && place < last_frame + 16;
    check(history, reopen(damaged, folder), is_last_header, tally);
  }
  CHECK(tally.told > 500);
  // Nothing of the database is older than the log says it is.
  Tally other;
  for (const auto place : places(files.database.size(), 200, 300)) {
    INFO("byte " << place << " of the database beside a log");
    auto damaged = files;
    flip(damaged.database, place);
    check(history, reopen(damaged, folder), false, other);
  }
}

// As after a crash: what was not synced yet may be missing, and nothing in between.
TEST_CASE("A log that ends early gives the journal up to there") {
  const History history;
  const Folder folder;
  const auto files = files_of_a_killed(history, folder);
  std::size_t shortest = history.states.size();
  for (const auto place : places(files.log.size(), kWalHeader + 40, 400)) {
    INFO("cut at byte " << place);
    auto damaged = files;
    damaged.log.resize(place);
    const auto outcome = reopen(damaged, folder);
    REQUIRE(outcome.state);
    REQUIRE(history.is_prefix(outcome));
    const auto found = std::find(history.states.begin(), history.states.end(), *outcome.state);
    shortest = std::min(shortest, static_cast<std::size_t>(found - history.states.begin()));
  }
  CHECK(shortest == 0);
}

// What the tool says of a file is no better than what a daemon makes of it.
TEST_CASE("Verifying finds all damage that recovery finds") {
  const History history;
  const Folder folder;
  const auto files = files_at_rest(history, folder, true);
  const auto name = folder.path("state.db");
  for (const auto place : places(files.database.size(), 0, 400)) {
    INFO("byte " << place);
    auto damaged = files;
    flip(damaged.database, place);
    const auto outcome = reopen(damaged, folder);
    bool found = false;
    try {
      found = !verify(name).problems.empty();
    } catch (const Error&) {
      found = true;
    }
    // Only who has the encoders can say that the identity is not theirs.
    if (!outcome.is_another && (!outcome.state || !history.is_whole(outcome))) CHECK(found);
  }
  static_cast<void>(reopen(files, folder));
  CHECK(verify(name).problems.empty());
  CHECK(verify(name).entries == history.recorder.journal().size());
}

}  // namespace
}  // namespace phsic::test
