// Who writes a state holds its lock, and notes down beside it how far the state has come.
//
// The marks tell what the state file cannot: a file that was cut short, or replaced by an older
// copy, may be whole in itself. After each commit the last entry of the journal that is on the disk
// is noted for its stream. Marks are never ahead of the disk. They are not synced: after a power
// failure they may be behind it, or lost, and then tell less or nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "state/file_handle.h"

namespace phsic {

struct StreamRecord;

// A place in a journal that was reached: the number of an entry, and the pairs up to its end.
struct StateMark {
  std::uint64_t number = 0;
  std::uint64_t pairs = 0;

  bool operator==(const StateMark&) const = default;
};

// What to say of a stream whose last entry is `last`, before its mark.
[[nodiscard]] std::string describe_shortfall(std::uint64_t last, const StateMark& mark);

// Keeps others from writing a state, as long as it lives: by a lock on FILE-lock, and by one on the
// state file itself, which cannot be removed without being noticed.
class StateLock {
 public:
  // Throws an Error when somebody else has it.
  explicit StateLock(const std::string& file);
  // Does somebody else have it just now? REQUIRES: this process does not have the state open, or it
  // would lose SQLite's locks.
  [[nodiscard]] static bool is_held(const std::string& file);
  ~StateLock();
  StateLock(const StateLock&) = delete;
  StateLock& operator=(const StateLock&) = delete;
  StateLock(StateLock&&) = delete;
  StateLock& operator=(StateLock&&) = delete;

  // Locks the state file that there is now: it was made or replaced. Throws an Error when somebody
  // else has it.
  void hold_state();
  // True if another file has taken the place of the one that was locked.
  [[nodiscard]] bool is_other_state() const { return state_.is_other(file_); }

  // REQUIRES: all up to the mark is on the disk. If it cannot be noted down, the old one stays. A
  // FILE-lock that was removed is made again, with all marks.
  void note(std::uint32_t stream, double created, const StateMark& mark);
  // Forgets all marks: what they tell of is given up.
  void forget_marks() const;

 private:
  void restore_if_removed();

  const std::string file_;
  int descriptor_;
  FileHandle state_;
};

// The marks beside a state, as they are when this is made. Who reads a state that is being written
// takes the marks first.
class StateMarks {
 public:
  StateMarks() = default;
  explicit StateMarks(const std::string& file);

  // None: there is none of that stream, or of another one that had its id.
  [[nodiscard]] std::optional<StateMark> find(const StreamRecord& stream) const;
  // Those of all streams, whatever they are.
  [[nodiscard]] std::vector<StateMark> all() const;

 private:
  std::string bytes_;
};

}  // namespace phsic
