#include "state/recovery.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace phsic {
namespace {

// Pairs to encode at once: as few as when they came.
constexpr std::size_t kPiece = 256;

// Calls visit(number, pairs, entry) as StateFile does. Returns the problem of a place that SQLite
// cannot read; empty: there was none.
template <class Visit>
std::string read_as_far_as_possible(const StateFile& file, std::uint32_t stream,
                                    std::uint64_t after, bool events, const Visit& visit) {
  try {
    file.read_journal(stream, after, events, visit);
    return {};
  } catch (const DatabaseError& problem) {
    return problem.what();
  }
}

// A stream that has learned nothing may get any identity.
bool has_learned(const StateFile& file, const StreamRecord& record, std::uint64_t first_entry,
                 const StateMarks& marks) {
  return first_entry != 0 || marks.find(record) || !file.snapshots(record.id).empty();
}

void require_same(const StateFile& file, const StreamRecord& record, const StreamStorage& stream) {
  const auto differences = identity_differences(record.identity, identity_text(stream.identity()));
  if (differences.empty()) return;
  throw IdentityError(fmt::format(
      "{}: the state of stream {} was learned with something else:\n  {}\n"
      "Restore what it was learned with, learn it again with the new configuration (phsic state "
      "rebuild), or begin anew beside it (phsicd --fresh).",
      file.file(), record.name, fmt::join(differences, "\n  ")));
}

// Restores the stream from the newest snapshot that is whole.
std::optional<EntryPlace> open_newest(const StateFile& file, const StreamRecord& record,
                                      StreamStorage& stream, DecisionReplay* decisions,
                                      Recovery& recovery) {
  for (const auto& snapshot : file.snapshots(record.id)) {
    try {
      const auto check = [&](const EntryPlace& last, const ServingState& serving) {
        if (last.number != snapshot.number) {
          throw Error(
              fmt::format("found one of entry {}, expected {}", last.number, snapshot.number));
        }
        if (decisions != nullptr) decisions->open(serving.parts);
      };
      const auto last = open_snapshot(file.snapshot(snapshot), recovery.serving, stream, check);
      recovery.program = snapshot.program;
      return last;
    } catch (const std::exception& problem) {
      recovery.damage.push_back(fmt::format("stream {}: the snapshot at {} pairs is damaged: {}",
                                            record.name, snapshot.pairs, problem.what()));
    }
  }
  // A snapshot that was damaged elsewhere may have left what it had decided.
  if (decisions != nullptr) decisions->open({});
  return std::nullopt;
}

// The number of pairs before the journal: a stream that was imported has pairs that are in no
// journal. 0 if the first entry cannot be read.
std::uint64_t pairs_before_journal(const StateFile& file, std::uint32_t stream) {
  std::uint64_t before = 0;
  static_cast<void>(read_as_far_as_possible(
      file, stream, 0, false, [&](std::uint64_t, std::uint64_t, std::span<const char> bytes) {
        try {
          before = parse<Entry>(bytes).place.pairs;
        } catch (const Error&) {
          before = 0;
        }
        return false;
      }));
  return before;
}

// The number of the first entry; UINT64_MAX if it cannot be read.
std::uint64_t first_entry(const StateFile& file, const StreamRecord& record, Recovery& recovery) {
  try {
    return file.first_entry(record.id);
  } catch (const DatabaseError& problem) {
    recovery.damage.push_back(fmt::format("stream {}: the beginning of the journal is damaged: {}",
                                          record.name, problem.what()));
    return UINT64_MAX;
  }
}

// Parses the entry that should be at `place`, with as many pairs as its row says.
Entry read_entry(std::uint64_t number, std::uint64_t pairs, std::span<const char> bytes,
                 const EntryPlace& place) {
  if (number != place.number) {
    throw Error(fmt::format("found entry {}, expected {}", number, place.number));
  }
  auto entry = parse_entry(bytes, place);
  if (entry.pairs.size() != pairs) {
    throw Error(fmt::format("found {} pairs, expected {}", entry.pairs.size(), pairs));
  }
  return entry;
}

// Finds the last adoption, entry by entry.
struct Adoptions {
  std::uint64_t begun = 0;
  LastAdoption last;

  void note(const Entry& entry) {
    const auto number = entry.place.number;
    if (entry.kind == EntryKind::kFreeze) begun = number;
    if (entry.kind == EntryKind::kAdopt) last = {begun, number};
  }
};

// How far a journal can be read.
struct Reach {
  std::uint64_t end = 0;    // the first entry that cannot be read
  std::uint64_t pairs = 0;  // pairs before `end`
  std::string problem;      // why reading ends; empty: at the end of the journal
  LastAdoption last;        // among the entries before `end`
};

// The replay must not go further than this: SQLite may give other bytes when it reads a damaged
// page again.
Reach find_reach(const StateFile& file, const StreamRecord& record, EntryPlace next,
                 const RecoveryWatcher& watcher) {
  Reach reach;
  const auto before = next.pairs;
  Adoptions adoptions;
  const auto problem = read_as_far_as_possible(
      file, record.id, next.number - 1, false,
      [&](std::uint64_t number, std::uint64_t pairs, std::span<const char> bytes) {
        if (watcher) watcher(0, 0);
        try {
          adoptions.note(read_entry(number, pairs, bytes, next));
          ++next.number;
          next.pairs += pairs;
          return true;
        } catch (const Error& found) {
          reach.problem = found.what();
          return false;
        }
      });
  if (reach.problem.empty()) reach.problem = problem;
  reach.end = next.number;
  reach.pairs = next.pairs - before;
  reach.last = adoptions.last;
  return reach;
}

// The pairs lost up to the end of an entry behind the damage, if `lost` were lost before it. An
// entry that can be read counts the pairs of missing entries, too.
std::uint64_t lost_up_to(std::span<const char> bytes, std::uint64_t pairs,
                         const EntryPlace& reached, std::uint64_t lost) {
  try {
    const auto end = parse<Entry>(bytes).place.pairs + pairs;
    if (end >= reached.pairs) return std::max(lost + pairs, end - reached.pairs);
  } catch (const std::exception&) {
    // This entry is damaged, too.
  }
  return lost + pairs;
}

// An entry that is whole and cannot be learned is no damage: it and all entries after it can be
// recovered another time.
void apply(const StateFile& file, const StreamRecord& record, const Entry& entry, Replay& replay) {
  try {
    replay.apply(entry);
  } catch (const Interrupted&) {
    throw;
  } catch (const std::exception& problem) {
    throw Error(fmt::format(
        "{}: stream {}: entry {} of the journal is whole, but cannot be learned again: {}\n"
        "Restore the encoder that it was learned with, or begin anew beside it (phsicd --fresh).",
        file.file(), record.name, entry.place.number, problem.what()));
  }
}

void replay(const StateFile& file, const StreamRecord& record, const EntryPlace& from,
            Stream& stream, Recovery& recovery, const RecoveryWatcher& watcher,
            DecisionReplay* decisions) {
  EntryPlace next = {record.id, from.number + 1, from.pairs};
  auto [end, all, problem, last] = find_reach(file, record, next, watcher);
  const auto learned = [&, of = all](std::uint64_t pairs) {
    if (watcher) watcher(pairs, of);
  };
  Replay replay(stream, recovery.serving, last.begun, last.adopted, learned, decisions);
  const auto unreadable = read_as_far_as_possible(
      file, record.id, from.number, false,
      [&, &end = end, &why = problem](std::uint64_t number, std::uint64_t pairs,
                                      std::span<const char> bytes) {
        recovery.last.number = std::max(recovery.last.number, number);
        std::optional<Entry> entry;
        try {
          if (next.number < end) entry = read_entry(number, pairs, bytes, next);
        } catch (const Error& found) {
          end = next.number;
          why = found.what();
        }
        if (!entry) {
          recovery.lost = lost_up_to(bytes, pairs, next, recovery.lost);
          return true;
        }
        apply(file, record, *entry, replay);
        ++next.number;
        next.pairs += pairs;
        recovery.replayed_bytes += bytes.size();
        return true;
      });
  if (problem.empty()) problem = unreadable;
  if (!problem.empty()) {
    recovery.damage.push_back(fmt::format("stream {}: entry {} of the journal is damaged: {}",
                                          record.name, next.number, problem));
  }
  recovery.replayed = replay.pairs();
  recovery.models = replay.models();
  recovery.last.number = std::max(recovery.last.number, next.number - 1);
  recovery.last.pairs = next.pairs;
  recovery.pending = replay.take_pending();
}

std::string describe_beginning(std::uint64_t first, std::uint64_t pairs_before) {
  if (first == 0) return "is empty";
  if (first == UINT64_MAX) return "cannot be read";
  return fmt::format("begins with entry {} after {} pairs", first, pairs_before);
}

// Only the mark tells of a journal that was cut short: what is left of it is whole.
void compare(const StateMark& mark, const StreamRecord& record, Recovery& recovery) {
  if (recovery.last.number >= mark.number) return;
  recovery.damage.push_back(
      fmt::format("stream {}: {}", record.name, describe_shortfall(recovery.last.number, mark)));
  recovery.last.number = mark.number;
  const auto missing = mark.pairs - std::min(mark.pairs, recovery.last.pairs);
  recovery.lost = std::max(recovery.lost, missing);
}

}  // namespace

Replay::Replay(Stream& stream, ServingState& serving, std::uint64_t begun,
               std::uint64_t last_adopted, std::function<void(std::uint64_t)> learned,
               DecisionReplay* decisions)
    : stream_(stream),
      serving_(serving),
      decisions_(decisions),
      begun_(begun),
      last_adopted_(last_adopted),
      learned_(std::move(learned)),
      cycle_(stream) {}

void Replay::apply(const Entry& entry) {
  const auto number = entry.place.number;
  switch (entry.kind) {
    case EntryKind::kTexts:
    case EntryKind::kVectors: learn(entry.pairs); return;
    case EntryKind::kFreeze:
      // The journal may not tell what became of the model before.
      cycle_.abandon();
      // Only a model that is still in use, or on its way, is worth building.
      if (number >= begun_) {
        cycle_.begin(entry.extent);
      } else {
        stream_.freeze_again(entry.extent);
      }
      return;
    case EntryKind::kAdopt: adopt(entry); return;
    case EntryKind::kAbandon: cycle_.abandon(); return;
    case EntryKind::kEvery: cycle_.refresh_every(entry.every); return;
    case EntryKind::kCut:
      if (decisions_ != nullptr) decisions_->cut(entry.cut);
      return;
  }
}

void Replay::adopt(const Entry& entry) {
  if (entry.place.number == last_adopted_ && cycle_.pending() != nullptr) {
    if (const auto problem = cycle_.complete()) throw Error(*problem);
  } else {
    stream_.adopt_again(entry.adoption);
    cycle_.abandon();
  }
  ++models_;
  if (decisions_ != nullptr) decisions_->adopted();
}

void Replay::encode(const EntryPairs& pairs, std::size_t first, std::size_t count) {
  x_.assign(count, {});
  y_.assign(count, {});
  if (pairs.are_vectors()) {
    const auto x = stream_.shape_x();
    const auto y = stream_.shape_y();
    if (x != ItemShape{ItemKind::kDense, pairs.x_dim()} ||
        y != ItemShape{ItemKind::kDense, pairs.y_dim()}) {
      throw Error(fmt::format("found vectors of {} and {} dimensions, expected {} and {}",
                              pairs.x_dim(), pairs.y_dim(), x.to_string(), y.to_string()));
    }
    stream_.take({pairs.x_values().data() + first * pairs.x_dim(), count, pairs.x_dim()},
                 {pairs.y_values().data() + first * pairs.y_dim(), count, pairs.y_dim()}, batch_);
  } else {
    for (std::size_t i = 0; i < count; ++i) {
      x_[i] = pairs.x(first + i);
      y_[i] = pairs.y(first + i);
    }
    stream_.encode({x_, y_, {}}, batch_);
  }
  const auto bad = std::find(batch_.usable.begin(), batch_.usable.end(), false);
  if (bad != batch_.usable.end()) {
    throw Error(fmt::format("pair {} of it can no longer be encoded",
                            first + static_cast<std::size_t>(bad - batch_.usable.begin())));
  }
}

void Replay::learn(const EntryPairs& pairs) {
  for (std::size_t first = 0; first < pairs.size(); first += kPiece) {
    if (learned_) learned_(pairs_);
    const auto count = std::min(kPiece, pairs.size() - first);
    encode(pairs, first, count);
    pairs_ += count;
    auto learn_batch = items_to_learn(batch_, 0, count);
    learn_batch.times = pairs.times().data() + first;
    learn_batch.x_texts = x_.data();
    learn_batch.y_texts = y_.data();
    stream_.learn(learn_batch, 0, false);
  }
  for (const auto& id : pairs.ids()) serving_.ids.add(id);
  if (decisions_ != nullptr) tell_decisions(pairs, *decisions_);
}

void tell_decisions(const EntryPairs& pairs, DecisionReplay& decisions) {
  auto rejected = pairs.rejected().begin();
  const auto tell_rejected = [&](std::size_t place) {
    for (; rejected != pairs.rejected().end() && rejected->place == place; ++rejected) {
      decisions.rejected(rejected->decision);
    }
  };
  const std::span x_values = pairs.x_values();
  const std::span y_values = pairs.y_values();
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    tell_rejected(i);
    const auto& decision = pairs.decisions()[i];
    if (pairs.are_vectors()) {
      decisions.learned(x_values.subspan(i * pairs.x_dim(), pairs.x_dim()),
                        y_values.subspan(i * pairs.y_dim(), pairs.y_dim()), decision);
    } else {
      decisions.learned(pairs.x(i), pairs.y(i), decision);
    }
  }
  tell_rejected(pairs.size());
}

LastAdoption last_adoption(const StateFile& file, std::uint32_t stream) {
  Adoptions adoptions;
  file.read_journal(stream, 0, true,
                    [&](std::uint64_t, std::uint64_t, std::span<const char> bytes) {
                      try {
                        adoptions.note(parse<Entry>(bytes));
                        return true;
                      } catch (const Error&) {
                        return false;
                      }
                    });
  return adoptions.last;
}

void require_identity(const StateFile& file, const StreamRecord& record,
                      const StreamStorage& stream, const StateMarks& marks) {
  if (!has_learned(file, record, file.first_entry(record.id), marks)) return;
  require_same(file, record, stream);
}

Recovery recover(const StateFile& file, const std::string& name, Stream& stream,
                 std::size_t id_window, const StateMarks& marks, const RecoveryWatcher& watcher,
                 DecisionReplay* decisions) {
  Recovery recovery(id_window);
  const auto record = file.find(name);
  if (!record) return recovery;
  const auto first = first_entry(file, *record, recovery);
  const auto mark = marks.find(*record);
  if (!has_learned(file, *record, first, marks)) return recovery;
  require_same(file, *record, stream);
  recovery.stream = record->id;
  const auto snapshot = open_newest(file, *record, stream, decisions, recovery);
  const auto before = snapshot ? 0 : pairs_before_journal(file, record->id);
  if (!snapshot && (first > 1 || before > 0 || (first == 0 && !recovery.damage.empty()))) {
    throw Error(fmt::format(
        "{}: nothing of stream {} can be recovered: found no whole snapshot and a journal that {}, "
        "expected one of them\n  {}\nBegin anew beside it (phsicd --fresh).",
        file.file(), name, describe_beginning(first, before), fmt::join(recovery.damage, "\n  ")));
  }
  const auto from = snapshot.value_or(EntryPlace{record->id, 0, 0});
  recovery.from_snapshot = stream.pairs();
  recovery.last = {record->id, from.number, from.pairs};
  replay(file, *record, from, stream, recovery, watcher, decisions);
  if (decisions != nullptr) decisions->save(recovery.serving.parts);
  if (mark) compare(*mark, *record, recovery);
  return recovery;
}

}  // namespace phsic
