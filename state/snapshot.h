// A snapshot: all there is to know of a stream at one place of its journal.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "core/drift.h"
#include "engine/decision_replay.h"
#include "engine/stream_storage.h"
#include "state/entry.h"
#include "state/seen_ids.h"

namespace phsic {

// What is kept of how a stream was served, beside what it has learned.
struct ServingState {
  std::map<std::string, std::uint64_t> counters;
  DriftAlarm drift;
  std::uint64_t drift_model = 0;  // whose scores the alarm watches
  SeenIds ids;
  // What others keep beside it, each under a name and in a form of their own: "decide".
  StateParts parts;

  explicit ServingState(std::size_t id_window) : ids(id_window) {}
  void save(Writer& writer) const;
  void load(Reader& reader);
};

// The archive `SNAP`. `last` is the place of the last entry that it covers, with the pairs in all
// entries up to there.
[[nodiscard]] std::string seal_snapshot(const EntryPlace& last, const ServingState& serving,
                                        const StreamState& state);

// Where it stands, of bytes that are whole. Throws an Error if they are not.
[[nodiscard]] EntryPlace snapshot_place(std::span<const char> bytes);

// Looks at a snapshot before anything is restored from it; throws if it must not be.
using SnapshotCheck = std::function<void(const EntryPlace& last, const ServingState& serving)>;

// Restores stream and serving from it. Throws an Error, and nothing changes, unless the bytes are
// whole, `check` (may be empty) agrees, and the stream is such a one. `last.stream` is not
// compared: state may move to another file.
[[nodiscard]] EntryPlace open_snapshot(std::span<const char> bytes, ServingState& serving,
                                       StreamStorage& stream, const SnapshotCheck& check = {});

}  // namespace phsic
