#include "state/journal_writer.h"

#include <utility>

namespace phsic {

EntryPlace JournalWriter::next() const { return {last_.stream, last_.number + 1, last_.pairs}; }

void JournalWriter::add(std::string_view x, std::string_view y, double time, const IdHash& id,
                        const DecisionCode& decision) {
  if (!gathered_.takes(false)) flush();
  gathered_.add(x, y, time, id, decision);
}

void JournalWriter::add(std::span<const float> x, std::span<const float> y, double time,
                        const IdHash& id, const DecisionCode& decision) {
  if (!gathered_.takes(true)) flush();
  gathered_.add(x, y, time, id, decision);
}

void JournalWriter::reject(const DecisionCode& decision) {
  if (!gathered_.takes(gathered_.are_vectors())) flush();
  gathered_.reject(decision);
}

void JournalWriter::cut(std::string note) {
  Entry entry;
  entry.kind = EntryKind::kCut;
  entry.cut = std::move(note);
  put(std::move(entry));
}

void JournalWriter::flush() {
  if (gathered_.is_empty()) return;
  const auto pairs = gathered_.size();
  auto bytes = seal_pairs(next(), gathered_);
  gathered_.clear();
  hand_over(pairs, std::move(bytes));
}

void JournalWriter::freeze(PairExtent extent) {
  Entry entry;
  entry.kind = EntryKind::kFreeze;
  entry.extent = extent;
  put(std::move(entry));
}

void JournalWriter::adopt(std::string adoption) {
  Entry entry;
  entry.kind = EntryKind::kAdopt;
  entry.adoption = std::move(adoption);
  put(std::move(entry));
}

void JournalWriter::abandon() {
  Entry entry;
  entry.kind = EntryKind::kAbandon;
  put(std::move(entry));
}

void JournalWriter::refresh_every(std::uint64_t pairs) {
  Entry entry;
  entry.kind = EntryKind::kEvery;
  entry.every = pairs;
  put(std::move(entry));
}

void JournalWriter::put(Entry entry) {
  flush();
  entry.place = next();
  hand_over(entry.pairs.size(), serialise(entry));
}

void JournalWriter::hand_over(std::uint64_t pairs, std::string bytes) {
  const auto place = next();
  last_ = {place.stream, place.number, place.pairs + pairs};
  sink_(place, pairs, std::move(bytes));
}

}  // namespace phsic
