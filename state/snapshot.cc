#include "state/snapshot.h"

#include <utility>

namespace phsic {
namespace {

constexpr std::string_view kKind = "SNAP";
constexpr std::size_t kLongestCounterName = 64;
constexpr std::uint32_t kMostCounters = 1000;
constexpr std::uint32_t kMostParts = 100;
constexpr std::uint32_t kPartsSince = 4;  // version of the archive

EntryPlace load_place(Reader& reader) {
  EntryPlace last;
  last.stream = reader.number<std::uint32_t>("stream");
  last.number = reader.number<std::uint64_t>("last entry");
  last.pairs = reader.number<std::uint64_t>("pairs up to it");
  return last;
}

}  // namespace

void ServingState::save(Writer& writer) const {
  writer.number(static_cast<std::uint32_t>(counters.size()));
  for (const auto& [name, count] : counters) {
    writer.text(name);
    writer.number(count);
  }
  drift.save(writer);
  writer.number(drift_model);
  ids.save(writer);
  writer.number(static_cast<std::uint32_t>(parts.size()));
  for (const auto& [name, bytes] : parts) {
    writer.text(name);
    writer.text(bytes);
  }
}

void ServingState::load(Reader& reader) {
  // A newer snapshot that turned out to be damaged may have left some of its own.
  counters.clear();
  parts.clear();
  const auto count = reader.number_in<std::uint32_t>("counters", 0, kMostCounters);
  for (std::uint32_t i = 0; i < count; ++i) {
    auto name = reader.text("counter", kLongestCounterName);
    counters[std::move(name)] = reader.number<std::uint64_t>("counter");
  }
  drift = DriftAlarm::load(reader);
  drift_model = reader.number<std::uint64_t>("model of the drift alarm");
  ids.load(reader);
  if (reader.version() < kPartsSince) return;
  const auto others = reader.number_in<std::uint32_t>("parts", 0, kMostParts);
  for (std::uint32_t i = 0; i < others; ++i) {
    auto name = reader.text("part", kLongestCounterName);
    parts[std::move(name)] = reader.text("part", SIZE_MAX);
  }
}

std::string seal_snapshot(const EntryPlace& last, const ServingState& serving,
                          const StreamState& state) {
  Writer writer;
  writer.number(last.stream);
  writer.number(last.number);
  writer.number(last.pairs);
  serving.save(writer);
  state.save(writer);
  return seal(kKind, writer.bytes());
}

EntryPlace snapshot_place(std::span<const char> bytes) {
  Reader reader(unseal(kKind, bytes));
  return load_place(reader);
}

EntryPlace open_snapshot(std::span<const char> bytes, ServingState& serving, StreamStorage& stream,
                         const SnapshotCheck& check) {
  Reader reader(unseal(kKind, bytes));
  const auto last = load_place(reader);
  ServingState served(serving.ids.capacity());
  served.load(reader);
  if (check) check(last, served);
  stream.restore(reader);
  serving = std::move(served);
  return last;
}

}  // namespace phsic
