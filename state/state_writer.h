// The state writer: the one who writes the state file.
//
// Lanes hand in entries of their journals and snapshots. The writer's thread writes whatever waits
// in one transaction (group commit), and tells those who asked when it is on the disk.
//
// When writing fails, the streams concerned are out of step: their entries are dropped, and whoever
// asks is told that nothing is kept. The thread tries again, less and less often. Once the file can
// be written it asks for a snapshot of each such stream, which holds the dropped entries; with the
// snapshot the stream is in step again. Nothing is ever written twice as if nothing had happened.
//
//   write_queue       what was handed in
//   kept_streams      the streams, and how far each is in the file
//   writer_thread     the thread: groups, failures, attempts
//   held_state        the file: open, lost, opened again
//   snapshot_parts    snapshots on their way
//   owed_writes       what must get into the file however often writing fails
//   writer_status     figures, and what is wrong
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "state/kept_streams.h"
#include "state/state_lock.h"
#include "state/write_queue.h"
#include "state/writer_status.h"
#include "state/writer_thread.h"

namespace phsic {

// Any thread.
class StateWriter {
 public:
  struct Options {
    std::chrono::nanoseconds commit_delay{0};  // how long a commit waits for more
    StateFile::Keeping keeping;
  };
  // Called in the writer's thread. Empty: it is on the disk. Otherwise why not.
  using Told = WriteItem::Told;
  using Watcher = std::function<void(bool keeping, const std::string& message)>;
  using LogWatcher = std::function<void(std::uint64_t bytes)>;

  // The lock is that of the file, and outlives this. writer_thread.h says when the watchers are
  // called. Writes everything that was handed in before it is destroyed.
  StateWriter(StateLock& lock, const std::string& file, const Options& options, Watcher watcher,
              LogWatcher log_watcher = {});

  // Makes a stream known, with kReserved further numbers for each of its topics, and waits until
  // the file has it. `last` is how far the file has it already. `ask_for_snapshot` is called in the
  // writer's thread. Throws an Error when the stream cannot be written. The result lives as long as
  // this.
  KeptStream& open(const std::string& name, const std::string& identity, const std::string& options,
                   const StateMark& last, std::function<void()> ask_for_snapshot);
  // From now on the stream is asked for nothing.
  void forget(KeptStream& stream) { streams_.forget(stream); }
  // The stream of that name that was opened last is not going to be used: as soon as can be, the
  // file has the record of it that it had before, or nothing of it. Where there was a record, what
  // was handed in since stays: the stream goes on from there. REQUIRES: there is such a stream, and
  // nothing more of it is handed in.
  void withdraw(const std::string& name);

  // Takes over an entry that ends at `mark`; waits while very much is waiting already.
  void append(KeptStream& stream, const StateMark& mark, std::uint64_t pairs, std::string entry);
  // Calls `told` when everything before it is on the disk or lost.
  void tell(KeptStream& stream, Told told);
  // The snapshot covers all up to `mark`.
  void put_snapshot(KeptStream& stream, const StateMark& mark, std::string bytes, Told told);
  // Reserves the numbers of a topic up to `last`.
  void put_feed(const std::string& topic, std::uint64_t last);

  [[nodiscard]] const std::string& file() const { return file_; }
  [[nodiscard]] bool is_keeping() const { return status_.is_keeping; }
  // The last failure; empty: everything is kept.
  [[nodiscard]] std::string problem() const { return status_.problem(); }
  [[nodiscard]] std::uint64_t commits() const { return status_.commits; }
  [[nodiscard]] std::uint64_t bytes() const { return status_.bytes; }
  [[nodiscard]] std::uint64_t failures() const { return status_.failures; }
  // Bytes of commits in SQLite's log that cannot be written into the file.
  [[nodiscard]] std::uint64_t log_bytes() const { return status_.log_bytes; }

 private:
  const std::string file_;
  KeptStreams streams_;
  WriterStatus status_;
  WriteQueue queue_;
  WriterThread thread_;
};

}  // namespace phsic
