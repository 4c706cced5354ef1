// The state writer's thread: writes what the queue has, and tries again when that fails.
#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "state/held_state.h"
#include "state/kept_streams.h"
#include "state/owed_writes.h"
#include "state/snapshot_parts.h"
#include "state/state_lock.h"
#include "state/write_queue.h"
#include "state/writer_status.h"

namespace phsic {

class WriterThread {
 public:
  // Called in the thread.
  struct Watchers {
    // Keeping has failed, or works again.
    std::function<void(bool keeping, const std::string& message)> keeping;
    // Commits pile up in SQLite's log because they cannot be written into the file: called at 64
    // MiB and each time they have doubled, and with 0 when that is over. May be empty.
    std::function<void(std::uint64_t bytes)> log;
  };

  // Opens the file, or throws an Error. Everything handed in outlives this.
  WriterThread(StateLock& lock, const std::string& file, const StateFile::Keeping& keeping,
               Watchers watchers, WriteQueue& queue, KeptStreams& streams, WriterStatus& status);
  // Closes the queue, and writes what is left in it.
  ~WriterThread();
  WriterThread(const WriterThread&) = delete;
  WriterThread& operator=(const WriterThread&) = delete;
  WriterThread(WriterThread&&) = delete;
  WriterThread& operator=(WriterThread&&) = delete;

 private:
  using Clock = WriteQueue::Clock;
  using Items = std::span<WriteItem>;
  static constexpr std::uint64_t kLongLog = 64U << 20U;

  void run();
  [[nodiscard]] bool is_busy();
  void write(Items items);
  void write_group(Items items);
  void take_note(std::span<const WriteItem> items);
  void write_item(const WriteItem& item);
  void note_first_mark(const WriteItem& item);
  void note_marks(std::span<const WriteItem> items);
  void tell_all(Items items, const std::string& problem) const;
  void write_snapshot(WriteItem& item);
  void write_part();
  void remove_remains();
  void require_open() const;
  void open_again();
  void fail(std::span<const WriteItem> items, const std::exception& problem);
  void retry();
  [[nodiscard]] bool keeps_all();
  void show();
  void watch_log();

  StateLock& lock_;
  const StateFile::Keeping keeping_;
  const Watchers watchers_;
  WriteQueue& queue_;
  KeptStreams& streams_;
  WriterStatus& status_;

  HeldState state_;
  SnapshotParts parts_;
  OwedWrites owed_;
  bool removes_ = true;                // remains of old snapshots; not while the disk is full
  std::uint64_t long_log_ = kLongLog;  // the log watcher is called from so many bytes on
  bool shown_ = true;                  // what the watcher was told last
  std::optional<Clock::time_point> next_try_;
  Clock::duration pause_{};

  std::thread thread_;
};

}  // namespace phsic
