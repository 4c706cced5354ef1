// Snapshots on their way into the state file, one after the other and part by part: entries come in
// between. For the state writer's thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>

#include "state/held_state.h"
#include "state/write_queue.h"

namespace phsic {

class SnapshotParts {
 public:
  explicit SnapshotParts(const StateFile::Keeping& keeping) : keeping_(keeping) {}

  void add(WriteItem snapshot) { waiting_.push_back({std::move(snapshot)}); }
  [[nodiscard]] bool is_empty() const { return waiting_.empty(); }
  // The snapshot whose turn it is. REQUIRES: not is_empty().
  [[nodiscard]] const WriteItem& first() const { return waiting_.front().item; }
  // The number of the first snapshot in the file; 0: nothing of it is written.
  [[nodiscard]] std::int64_t first_id() const { return is_empty() ? 0 : waiting_.front().id; }

  // Writes the next part of the first snapshot. True: that was the last one. REQUIRES: not
  // is_empty().
  [[nodiscard]] bool write_part(HeldState& state);
  // Takes the first snapshot out, written or given up. REQUIRES: not is_empty().
  [[nodiscard]] WriteItem take_first();
  // The file was opened again: parts that were written are gone with the old file, or were removed
  // when it was opened.
  void begin_again();

 private:
  struct Writing {
    WriteItem item;
    std::int64_t id = 0;   // of the snapshot
    std::size_t part = 0;  // the next one
  };
  const StateFile::Keeping keeping_;
  std::deque<Writing> waiting_;
};

}  // namespace phsic
