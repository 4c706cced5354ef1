// The journal of a stream at work: takes notes of the learner, in order, and hands them to the
// state writer as entries; says when a snapshot is due.
//
// For the learner's thread, but for what says otherwise.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
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

  // Makes the stream known to the state writer. Entries continue after the last one of the
  // recovery. Throws an Error when the stream cannot be written.
  StreamJournal(StateWriter& state_writer, const std::string& name, const std::string& identity,
                const std::string& stream_options, const Options& options,
                const Recovery& recovery);
  ~StreamJournal() override;
  StreamJournal(const StreamJournal&) = delete;
  StreamJournal& operator=(const StreamJournal&) = delete;
  StreamJournal(StreamJournal&&) = delete;
  StreamJournal& operator=(StreamJournal&&) = delete;

  // The last number of each of the stream's topics before it was opened here.
  [[nodiscard]] const std::map<std::string, std::uint64_t>& feed() const { return stream_->feed(); }

  // Sets what the state writer's thread calls when it wants a snapshot. Any thread.
  void set_waker(std::function<void()> wake);

  // -- Any thread --

  // False after entries were lost, until a snapshot makes up for them.
  [[nodiscard]] bool is_keeping() const { return stream_->is_in_step(); }
  // The state writer's last failure; empty: everything is kept.
  [[nodiscard]] std::string problem() const { return state_writer_.problem(); }
  // Snapshots written since the start.
  [[nodiscard]] std::uint64_t snapshots() const { return snapshots_; }

  // -- Notes --
  //
  // What is noted has happened to the stream and cannot be taken back: the process ends when there
  // is no memory for a note of a model.

  // Notes a pair that was learned.
  void add(std::string_view x, std::string_view y, double time, const IdHash& id,
           const DecisionCode& decision = {});
  void add(std::span<const float> x, std::span<const float> y, double time, const IdHash& id,
           const DecisionCode& decision = {});
  // Notes a pair that was not learned.
  void reject(const DecisionCode& decision);
  // Notes the cut of the model in use.
  void cut(std::string note) noexcept;
  void freeze(PairExtent extent) noexcept override;
  void adopt(std::string adoption) noexcept override;
  void abandon() noexcept override;
  void refresh_every(std::uint64_t pairs) noexcept override;
  // Hands the gathered pairs over as an entry.
  void flush();
  // Calls `told` in the state writer's thread when all notes so far are on the disk, or with the
  // reason why not.
  void when_kept(StateWriter::Told told);

  // -- Snapshots --

  // True if a snapshot is needed at once: the state writer has lost entries, and asks for it.
  [[nodiscard]] bool is_behind() const { return !stream_->is_in_step() && asked_; }
  // True if a snapshot is due, by time or by size.
  [[nodiscard]] bool is_due() const;
  // When the next snapshot is due; an hour from now while none is foreseen.
  [[nodiscard]] std::chrono::steady_clock::time_point due_at() const;
  // True if the last snapshot does not cover every entry.
  [[nodiscard]] bool has_news() const { return journal_.last().number != covered_; }

  // A snapshot of this moment, for the caller to add the counters, the drift alarm and the parts.
  struct Draft {
    EntryPlace last;
    ServingState serving{0};
  };
  // Hands all notes over, and begins a snapshot that covers them. Time and size of the next one
  // count from here.
  [[nodiscard]] Draft begin_snapshot();
  // Called in the state writer's thread, with the pairs and the bytes of the snapshot. `problem` is
  // empty if the snapshot is on the disk.
  using SnapshotTold =
      std::function<void(const std::string& problem, std::uint64_t pairs, std::uint64_t bytes)>;
  // The long part. Any thread.
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
  KeptStream* stream_;  // may ask for a snapshot from now on

  JournalWriter journal_;
  SeenIds ids_;            // of the pairs noted down
  std::uint64_t covered_;  // the last entry that a snapshot covers
  std::uint64_t bytes_;    // handed over since then
  Clock::time_point last_snapshot_;
};

}  // namespace phsic
