#include "daemon/ledger.h"

#include <utility>

namespace phsic {

Ledger::Ledger(Keeper& keeper, const std::string& name, const std::string& identity,
               const std::string& stream_options, const Options& options, const Recovery& recovery)
    : keeper_(keeper),
      options_(options),
      stream_(&keeper.open(name, identity, stream_options,
                           [this] {
                             asked_ = true;
                             const std::lock_guard lock(waking_);
                             if (wake_) wake_();
                           })),
      place_(recovery.last),
      ids_(recovery.serving.ids),
      // What was damaged is not to be met again.
      covered_(recovery.damage.empty() && recovery.replayed_bytes == 0 ? place_.number
                                                                       : UINT64_MAX),
      bytes_(recovery.damage.empty() ? recovery.replayed_bytes : UINT64_MAX / 2),
      last_snapshot_(Clock::now()) {
  place_.stream = stream_->id();
}

Ledger::~Ledger() { keeper_.forget(*stream_); }

void Ledger::set_waker(std::function<void()> wake) {
  const std::lock_guard lock(waking_);
  wake_ = std::move(wake);
}

EntryPlace Ledger::next() const { return {stream_->id(), place_.number + 1, place_.pairs}; }

void Ledger::append(std::uint64_t pairs, std::string bytes) {
  ++place_.number;
  place_.pairs += pairs;
  bytes_ += bytes.size();
  keeper_.append(*stream_, place_.number, pairs, std::move(bytes));
}

void Ledger::add(std::string_view x, std::string_view y, double time, const IdHash& id) {
  if (!gathered_.takes(false)) flush();
  gathered_.add(x, y, time, id);
  ids_.add(id);
}

void Ledger::add(std::span<const float> x, std::span<const float> y, double time,
                 const IdHash& id) {
  if (!gathered_.takes(true)) flush();
  gathered_.add(x, y, time, id);
  ids_.add(id);
}

void Ledger::flush() {
  if (gathered_.size() == 0) return;
  const auto pairs = gathered_.size();
  auto bytes = seal_pairs(next(), gathered_);
  gathered_.clear();
  append(pairs, std::move(bytes));
}

void Ledger::note(Entry entry) {
  flush();
  entry.place = next();
  append(0, serialise(entry));
}

void Ledger::freeze(Stream::Extent extent) {
  Entry entry;
  entry.kind = EntryKind::kFreeze;
  entry.extent = extent;
  note(std::move(entry));
}

void Ledger::adopt(std::string adoption) {
  Entry entry;
  entry.kind = EntryKind::kAdopt;
  entry.adoption = std::move(adoption);
  note(std::move(entry));
}

void Ledger::abandon() {
  Entry entry;
  entry.kind = EntryKind::kAbandon;
  note(std::move(entry));
}

void Ledger::refresh_every(std::uint64_t pairs) {
  Entry entry;
  entry.kind = EntryKind::kEvery;
  entry.every = pairs;
  note(std::move(entry));
}

void Ledger::when_kept(Keeper::Told told) {
  flush();
  keeper_.tell(*stream_, std::move(told));
}

bool Ledger::is_due() const { return has_news() && Clock::now() >= due_at(); }

Ledger::Clock::time_point Ledger::due_at() const {
  if (!has_news()) return Clock::now() + std::chrono::hours(1);
  if (bytes_ >= options_.snapshot_bytes) return Clock::now();
  if (options_.snapshot_seconds <= 0) return Clock::now() + std::chrono::hours(1);
  return last_snapshot_ + std::chrono::duration_cast<Clock::duration>(
                              std::chrono::duration<double>(options_.snapshot_seconds));
}

Ledger::Draft Ledger::begin_snapshot() {
  flush();
  asked_ = false;
  covered_ = place_.number;
  bytes_ = 0;
  last_snapshot_ = Clock::now();
  Draft draft;
  draft.last = place_;
  draft.serving.ids = ids_;
  return draft;
}

void Ledger::write_snapshot(const Draft& draft, const StreamState& state, SnapshotTold told) {
  auto bytes = seal_snapshot(draft.last, draft.serving, state);
  const auto size = bytes.size();
  keeper_.put_snapshot(
      *stream_, draft.last.number, draft.last.pairs, std::move(bytes),
      [this, size, pairs = draft.last.pairs, told = std::move(told)](const std::string& problem) {
        if (problem.empty()) ++snapshots_;
        told(problem, pairs, size);
      });
}

}  // namespace phsic
