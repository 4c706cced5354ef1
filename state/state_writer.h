// The state writer: the one thread that writes the state file.
//
// Lanes hand in entries of their journals and snapshots. Whatever waits is written in one
// transaction (group commit), and those who asked to be told hear of it when it is on the disk.
//
// When writing fails, the streams concerned are out of step: their entries are dropped, and whoever
// asks is told that nothing is kept. The state writer tries again, less and less often. Once the
// file can be written it asks for a snapshot of each such stream, which holds what was dropped;
// with that the stream is in step again. Nothing is ever written twice as if nothing had happened.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "state/file_handle.h"
#include "state/state_file.h"
#include "state/state_lock.h"

namespace phsic {

// A stream as the state writer knows it.
class KeptStream {
 public:
  [[nodiscard]] std::uint32_t id() const { return id_; }
  // Are its entries being written?
  [[nodiscard]] bool is_in_step() const { return in_step_; }

 private:
  friend class StateWriter;

  std::string name_;
  std::string identity_;
  std::string options_;
  std::atomic<std::uint32_t> id_{0};
  std::atomic<bool> in_step_{true};
  std::atomic<bool> forgotten_{false};
  std::function<void()> ask_for_snapshot_;
  // The state writer's thread's own.
  std::optional<StreamRecord> before_;   // what the file had of it before it was opened
  std::vector<std::string> new_topics_;  // of which the file knew no number then
  double created_ = 0;
  StateMark handed_in_;        // with the last entry that came, written or not
  std::uint64_t dropped_ = 0;  // entries up to here may not be in the file
};

class StateWriter {
 public:
  struct Options {
    std::chrono::nanoseconds commit_delay{0};  // how long a commit waits for more
    StateFile::Keeping keeping;
  };
  // Empty: it is on the disk. Otherwise why not.
  using Told = std::function<void(const std::string& problem)>;
  // Called when keeping fails, and when it works again. In the state writer's thread.
  using Watcher = std::function<void(bool keeping, const std::string& message)>;

  // Called when commits pile up in SQLite's log because it cannot be written into the file, at 64
  // MiB and each time they have doubled; and with 0 when that is over. In the state writer's
  // thread.
  using LogWatcher = std::function<void(std::uint64_t bytes)>;

  // The lock is that of the file, and outlives this.
  StateWriter(StateLock& lock, const std::string& file, const Options& options, Watcher watcher,
              LogWatcher log_watcher = {});
  // Writes what was handed in.
  ~StateWriter();
  StateWriter(const StateWriter&) = delete;
  StateWriter& operator=(const StateWriter&) = delete;
  StateWriter(StateWriter&&) = delete;
  StateWriter& operator=(StateWriter&&) = delete;

  // -- Any thread --

  // Makes a stream known, with kReserved further numbers for each of its topics, and waits until
  // the file has it. `last` is how far the file has it already. `ask_for_snapshot` is called from
  // the state writer's thread. Throws an Error when it cannot be written. The result lives as long
  // as this.
  KeptStream& open(const std::string& name, const std::string& identity, const std::string& options,
                   const StateMark& last, std::function<void()> ask_for_snapshot);

  // From now on nothing is asked of it.
  void forget(KeptStream& stream);
  // A stream that was opened is not going to be used: as soon as can be the file has of it what it
  // had before. REQUIRES: nothing of it was appended.
  void withdraw(KeptStream& stream);

  // Takes over an entry that ends at `mark`; waits while very much is waiting already.
  void append(KeptStream& stream, const StateMark& mark, std::uint64_t pairs, std::string entry);
  // Calls `told` in the state writer's thread when everything before it is on the disk or lost.
  void tell(KeptStream& stream, Told told);
  // The snapshot covers all up to `mark`.
  void put_snapshot(KeptStream& stream, const StateMark& mark, std::string bytes, Told told);
  void put_feed(const std::string& topic, std::uint64_t last);

  [[nodiscard]] const std::string& file() const { return file_name_; }
  [[nodiscard]] bool is_keeping() const { return keeping_; }
  [[nodiscard]] std::string problem() const;
  [[nodiscard]] std::uint64_t commits() const { return commits_; }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  [[nodiscard]] std::uint64_t failures() const { return failures_; }
  // That wait in SQLite's log because they cannot be written into the file.
  [[nodiscard]] std::uint64_t log_bytes() const { return log_bytes_; }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::uint64_t kLongLog = 64U << 20U;

  struct Item {
    enum class Kind : std::uint8_t { kOpen, kEntry, kTell, kSnapshot, kFeed, kWithdraw };
    Kind kind = Kind::kEntry;
    KeptStream* stream = nullptr;  // null for kFeed
    StateMark mark;                // for kFeed its number is the last one reserved
    std::uint64_t pairs = 0;       // in an entry
    std::string bytes;             // the topic for kFeed
    Told told;
  };

  void hand_in(Item item);
  void run();
  [[nodiscard]] bool take(std::vector<Item>& items);
  [[nodiscard]] bool has_own_work() const;
  void write(std::vector<Item>& items);
  void write_group(std::span<Item> items);
  void write_stream(KeptStream& stream);
  void withdraw_stream(const KeptStream& stream);
  void take_note(std::span<const Item> items);
  void write_item(const Item& item);
  void write_owed();
  void clear_owed();
  [[nodiscard]] bool owes() const {
    return !unwritten_feed_.empty() || !unwritten_withdrawals_.empty();
  }
  void note_first_mark(const Item& item) const;
  void note_marks(std::span<const Item> items) const;
  void write_snapshot(Item& item);
  void write_part();
  void remove_remains();
  void end_writing(const std::string& problem);
  void tell_all(std::span<Item> items, const std::string& problem);
  void require_open() const;
  void require_in_place() const;
  void open_file();
  void close_file();
  void open_again();
  [[nodiscard]] std::vector<KeptStream*> known();
  void fail(std::span<const Item> items, const std::exception& problem);
  void retry();
  [[nodiscard]] bool keeps_all();
  void show();
  void watch_log();

  StateLock& lock_;
  const std::string file_name_;
  const Options options_;
  const Watcher watcher_;
  const LogWatcher log_watcher_;

  std::mutex mutex_;  // guards the queue and what follows it
  std::condition_variable filled_;
  std::condition_variable emptied_;
  std::vector<Item> queue_;
  std::size_t queue_bytes_ = 0;
  std::optional<Clock::time_point> oldest_;  // when the first that waits came
  bool closed_ = false;
  std::deque<KeptStream> streams_;

  std::atomic<bool> keeping_{true};
  std::atomic<std::uint64_t> commits_{0};
  std::atomic<std::uint64_t> bytes_{0};
  std::atomic<std::uint64_t> failures_{0};
  std::atomic<std::uint64_t> log_bytes_{0};
  std::mutex asking_;                 // held while a stream is asked for a snapshot
  mutable std::mutex problem_mutex_;  // guards problem_
  std::string problem_;

  // The thread's own.
  struct Writing {
    Item item;
    std::int64_t id = 0;  // of the snapshot
    std::size_t part = 0;
  };
  std::deque<Writing> writing_;       // snapshots, part by part
  std::unique_ptr<StateFile> state_;  // null after an error, until it is opened anew
  bool removes_ = true;               // what is not kept any more; not while the disk is full
  FileHandle held_log_;
  std::uint64_t long_log_ = kLongLog;                    // from so many bytes on it is told
  std::map<std::string, std::uint64_t> unwritten_feed_;  // numbers that could not be reserved
  std::set<const KeptStream*> unwritten_withdrawals_;
  bool shown_ = true;  // what the watcher was told last
  std::optional<Clock::time_point> next_try_;
  Clock::duration pause_{};

  std::thread thread_;
};

}  // namespace phsic
