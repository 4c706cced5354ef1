#include "state/stream_journal.h"

#include <utility>

namespace phsic {

StreamJournal::StreamJournal(StateWriter& state_writer, const std::string& name,
                             const std::string& identity, const std::string& stream_options,
                             const Options& options, const Recovery& recovery)
    : state_writer_(state_writer),
      options_(options),
      stream_(&state_writer.open(name, identity, stream_options,
                                 {recovery.last.number, recovery.last.pairs},
                                 [this] {
                                   asked_ = true;
                                   const std::lock_guard lock(waking_);
                                   if (wake_) wake_();
                                 })),
      journal_({stream_->id(), recovery.last.number, recovery.last.pairs},
               [this](const EntryPlace& place, std::uint64_t pairs, std::string bytes) {
                 bytes_ += bytes.size();
                 state_writer_.append(*stream_, {place.number, place.pairs + pairs}, pairs,
                                      std::move(bytes));
               }),
      ids_(recovery.serving.ids),
      covered_(recovery.replayed_bytes == 0 ? recovery.last.number : UINT64_MAX),
      bytes_(recovery.replayed_bytes),
      last_snapshot_(Clock::now()) {}

StreamJournal::~StreamJournal() { state_writer_.forget(*stream_); }

void StreamJournal::set_waker(std::function<void()> wake) {
  const std::lock_guard lock(waking_);
  wake_ = std::move(wake);
}

void StreamJournal::add(std::string_view x, std::string_view y, double time, const IdHash& id,
                        const DecisionCode& decision) {
  journal_.add(x, y, time, id, decision);
  ids_.add(id);
}

void StreamJournal::add(std::span<const float> x, std::span<const float> y, double time,
                        const IdHash& id, const DecisionCode& decision) {
  journal_.add(x, y, time, id, decision);
  ids_.add(id);
}

void StreamJournal::reject(const DecisionCode& decision) { journal_.reject(decision); }

// Entries carry the number of the stream, which changes if the file is replaced by another.
JournalWriter& StreamJournal::journal() {
  journal_.set_stream(stream_->id());
  return journal_;
}

void StreamJournal::flush() { journal().flush(); }
void StreamJournal::freeze(PairExtent extent) noexcept { journal().freeze(extent); }
void StreamJournal::adopt(std::string adoption) noexcept { journal().adopt(std::move(adoption)); }
void StreamJournal::cut(std::string note) noexcept { journal().cut(std::move(note)); }
void StreamJournal::abandon() noexcept { journal().abandon(); }
void StreamJournal::refresh_every(std::uint64_t pairs) noexcept { journal().refresh_every(pairs); }

void StreamJournal::when_kept(StateWriter::Told told) {
  flush();
  state_writer_.tell(*stream_, std::move(told));
}

bool StreamJournal::is_due() const {
  // due_at() must read the clock first: a snapshot that is due at once is due by then.
  const auto due = due_at();
  return has_news() && Clock::now() >= due;
}

StreamJournal::Clock::time_point StreamJournal::due_at() const {
  if (!has_news()) return Clock::now() + std::chrono::hours(1);
  if (bytes_ >= options_.snapshot_bytes) return Clock::now();
  if (options_.snapshot_seconds <= 0) return Clock::now() + std::chrono::hours(1);
  return last_snapshot_ + std::chrono::duration_cast<Clock::duration>(
                              std::chrono::duration<double>(options_.snapshot_seconds));
}

StreamJournal::Draft StreamJournal::begin_snapshot() {
  flush();
  asked_ = false;
  covered_ = journal_.last().number;
  bytes_ = 0;
  last_snapshot_ = Clock::now();
  Draft draft;
  draft.last = journal_.last();
  draft.serving.ids = ids_;
  return draft;
}

void StreamJournal::write_snapshot(const Draft& draft, const StreamState& state,
                                   SnapshotTold told) {
  auto bytes = seal_snapshot(draft.last, draft.serving, state);
  const auto size = bytes.size();
  state_writer_.put_snapshot(
      *stream_, {draft.last.number, draft.last.pairs}, std::move(bytes),
      [this, size, pairs = draft.last.pairs, told = std::move(told)](const std::string& problem) {
        if (problem.empty()) ++snapshots_;
        told(problem, pairs, size);
      });
}

}  // namespace phsic
