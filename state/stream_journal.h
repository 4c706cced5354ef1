// A lane's side of its journal: what its learner did, in order, on the way to the state writer.
//
// For the learner's thread, but for what says otherwise.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "engine/model_cycle.h"
#include "state/journal_writer.h"
#include "state/recovery.h"
#include "state/snapshot.h"
#include "state/state_writer.h"

namespace phsic {

class StreamJournal : public ModelCycle::Notes {
 public:
  struct Options {
    double snapshot_seconds = 300;  // 0: not by time
    std::uint64_t snapshot_bytes = 64U << 20U;
  };

  // Goes on where the recovery ended.
  StreamJournal(StateWriter& state_writer, const std::string& name, const std::string& identity,
                const std::string& stream_options, const Options& options,
                const Recovery& recovery);
  ~StreamJournal() override;
  StreamJournal(const StreamJournal&) = delete;
  StreamJournal& operator=(const StreamJournal&) = delete;
  StreamJournal(StreamJournal&&) = delete;
  StreamJournal& operator=(StreamJournal&&) = delete;

  // The stream is not going to be used: the file has of it what it had before. REQUIRES: nothing
  // was noted down.
  void withdraw() { state_writer_.withdraw(*stream_); }

  // Who is woken when a snapshot is wanted.
  void set_waker(std::function<void()> wake);

  // Any thread.
  [[nodiscard]] bool is_keeping() const { return stream_->is_in_step(); }
  [[nodiscard]] std::string problem() const { return state_writer_.problem(); }
  [[nodiscard]] std::uint64_t snapshots() const { return snapshots_; }

  // A pair that was learned.
  void add(std::string_view x, std::string_view y, double time, const IdHash& id);
  void add(std::span<const float> x, std::span<const float> y, double time, const IdHash& id);
  void freeze(PairExtent extent) override;
  void adopt(std::string adoption) override;
  void abandon() override;
  void refresh_every(std::uint64_t pairs) override;
  // Hands over what was gathered.
  void flush();
  // Calls `told` when all up to here is on the disk, or why not. From another thread.
  void when_kept(StateWriter::Told told);

  // -- Snapshots --

  // Must there be one at once, because the state writer has lost entries?
  [[nodiscard]] bool is_behind() const { return !stream_->is_in_step() && asked_; }
  // Is one due, by time or by size?
  [[nodiscard]] bool is_due() const;
  // When it is; late, if nothing has happened since the last.
  [[nodiscard]] std::chrono::steady_clock::time_point due_at() const;
  // Has anything happened since the last one?
  [[nodiscard]] bool has_news() const { return journal_.last().number != covered_; }

  // One of this moment, without what only the lane knows; everything up to here is handed over.
  // The next one is counted from it.
  struct Draft {
    EntryPlace last;
    ServingState serving{0};
  };
  [[nodiscard]] Draft begin_snapshot();
  // Any thread: the long part. `told` hears of it in another one, with pairs and bytes of the
  // snapshot.
  using SnapshotTold =
      std::function<void(const std::string& problem, std::uint64_t pairs, std::uint64_t bytes)>;
  void write_snapshot(const Draft& draft, const StreamState& state, SnapshotTold told);

 private:
  using Clock = std::chrono::steady_clock;

  [[nodiscard]] JournalWriter& journal();

  StateWriter& state_writer_;
  const Options options_;
  std::mutex waking_;  // guards wake_
  std::function<void()> wake_;
  std::atomic<bool> asked_{false};  // the state writer wants a snapshot
  std::atomic<std::uint64_t> snapshots_{0};
  KeptStream* stream_;  // calls for a snapshot as soon as it is there

  JournalWriter journal_;
  SeenIds ids_;            // of the pairs noted down
  std::uint64_t covered_;  // by the last snapshot
  std::uint64_t bytes_;    // since then
  Clock::time_point last_snapshot_;
};

}  // namespace phsic
