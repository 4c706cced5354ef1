#include "state/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "state/entry.h"
#include "state/snapshot.h"
#include "state/state_lock.h"
#include "state/wal_tail.h"

namespace phsic {
namespace {

class Inspection {
 public:
  Inspection(const StateFile& file, const StreamRecord& record, StateVerdict& verdict)
      : file_(file), record_(record), verdict_(verdict) {}

  void run(const StateMarks& marks) {
    snapshots_ = file_.snapshots(record_.id);
    for (const auto& snapshot : snapshots_) inspect(snapshot);
    inspect_journal();
    inspect_joint();
    if (const auto mark = marks.find(record_)) compare(*mark);
  }

 private:
  template <class... Parts>
  void tell(fmt::format_string<Parts...> text, Parts&&... parts) {
    verdict_.problems.push_back(fmt::format("stream {}: {}", record_.name,
                                            fmt::format(text, std::forward<Parts>(parts)...)));
  }

  void inspect(const SnapshotRecord& snapshot) {
    ++verdict_.snapshots;
    try {
      const auto place = snapshot_place(file_.snapshot(snapshot));
      if (place != EntryPlace{record_.id, snapshot.number, snapshot.pairs}) {
        throw Error(fmt::format(
            "found one of stream {} at entry {} and {} pairs, expected stream {}, entry {}, {} "
            "pairs",
            place.stream, place.number, place.pairs, record_.id, snapshot.number, snapshot.pairs));
      }
      covered_ = std::max(covered_, place.number);
    } catch (const DatabaseError&) {
      throw;
    } catch (const Error& problem) {
      tell("the snapshot at {} pairs is damaged: {}", snapshot.pairs, problem.what());
    }
  }

  void inspect_journal() {
    std::optional<EntryPlace> next;
    file_.read_journal(record_.id, 0, false,
                       [&](std::uint64_t number, std::uint64_t pairs, std::span<const char> bytes) {
                         ++verdict_.entries;
                         verdict_.pairs += pairs;
                         inspect(number, pairs, bytes, next);
                         return true;
                       });
  }

  // `next` is where the entry should stand, if that is known, and becomes that of the one after.
  void inspect(std::uint64_t number, std::uint64_t pairs, std::span<const char> bytes,
               std::optional<EntryPlace>& next) {
    if (next && number != next->number) {
      tell_gap(next->number, number);
      next.reset();
    }
    try {
      const auto entry = parse<Entry>(bytes);
      const auto expected = next.value_or(EntryPlace{record_.id, number, entry.place.pairs});
      if (entry.place != expected || entry.pairs.size() != pairs) {
        throw Error(fmt::format(
            "found entry {} of stream {} after {} pairs with {}, expected {} of {} after {} with "
            "{}",
            entry.place.number, entry.place.stream, entry.place.pairs, entry.pairs.size(),
            expected.number, expected.stream, expected.pairs, pairs));
      }
      next = EntryPlace{record_.id, number + 1, entry.place.pairs + pairs};
      compare(number, next->pairs);
    } catch (const Error& problem) {
      tell("entry {} of the journal is damaged: {}", number, problem.what());
      next = EntryPlace{record_.id, number + 1, next ? next->pairs + pairs : 0};
      if (next->pairs == 0) next.reset();
    }
  }

  // What a failing disk did not take is in the snapshot after it.
  void tell_gap(std::uint64_t expected, std::uint64_t found) {
    if (covered_ + 1 < found) {
      tell("found entry {} of the journal, expected {}", found, expected);
      return;
    }
    verdict_.remarks.push_back(fmt::format(
        "stream {}: the journal has no entries {} to {}, which a snapshot covers: the stream can "
        "be recovered, and not be rebuilt",
        record_.name, expected, found - 1));
  }

  // Snapshot and journal count the same pairs.
  void compare(std::uint64_t number, std::uint64_t pairs) {
    for (const auto& snapshot : snapshots_) {
      if (snapshot.number != number || snapshot.pairs == pairs) continue;
      tell("the snapshot at entry {} has {} pairs, expected the {} of the journal", number,
           snapshot.pairs, pairs);
    }
  }

  // From every snapshot the journal must lead on.
  void inspect_joint() {
    const auto journal = file_.journal(record_.id);
    if (journal.first == 0) return;
    const auto oldest = snapshots_.empty() ? 0 : snapshots_.back().number;
    if (journal.first > oldest + 1) {
      tell(
          "the journal begins with entry {}, expected at most {}, which follows on the oldest "
          "snapshot",
          journal.first, oldest + 1);
    }
  }

  void compare(const StateMark& mark) {
    const auto last = std::max(covered_, file_.journal(record_.id).last);
    if (last < mark.number) tell("{}", describe_shortfall(last, mark));
  }

  const StateFile& file_;
  const StreamRecord& record_;
  StateVerdict& verdict_;
  std::vector<SnapshotRecord> snapshots_;
  std::uint64_t covered_ = 0;  // the last entry that a sound snapshot covers
};

}  // namespace

std::string find_lone_log(const std::string& file) {
  constexpr std::uintmax_t kHeaderBytes = 32;
  const auto size_of = [](const std::string& name) {
    std::error_code missing;
    const auto size = std::filesystem::file_size(name, missing);
    return missing ? 0 : size;
  };
  const auto size = size_of(file + "-wal");
  if (size_of(file) > 0 || size <= kHeaderBytes) return {};
  return fmt::format(
      "{}: found nothing but a log of {} bytes beside it, expected the state that the log belongs "
      "to",
      file, size);
}

std::vector<std::string> find_log_damage(const std::string& file) {
  std::vector<std::string> problems;
  if (auto lone = find_lone_log(file); !lone.empty()) return {std::move(lone)};
  const auto tail = inspect_wal(file);
  if (tail.header_is_bad) {
    problems.push_back(fmt::format("{}-wal: found no beginning of a log, expected one", file));
  }
  if (tail.lost_commits > 0) {
    problems.push_back(fmt::format(
        "{}-wal: found damage after {} frames, expected none: {} commits behind it cannot be read",
        file, tail.frames, tail.lost_commits));
  }
  return problems;
}

StateVerdict verify(const std::string& file) {
  StateVerdict verdict;
  // Before SQLite looks at it.
  verdict.log_was_read = !StateLock::is_held(file);
  if (verdict.log_was_read) verdict.problems = find_log_damage(file);
  const StateMarks marks(file);
  const StateFile state(file, Database::Access::kRead);
  state.look([&] {
    for (const auto& problem : state.check()) {
      verdict.problems.push_back(fmt::format("{}: {}", file, problem));
    }
    for (const auto& record : state.streams()) {
      ++verdict.streams;
      try {
        Inspection(state, record, verdict).run(marks);
      } catch (const DatabaseError& problem) {
        verdict.problems.push_back(fmt::format("stream {}: {}", record.name, problem.what()));
      }
    }
  });
  return verdict;
}

}  // namespace phsic
