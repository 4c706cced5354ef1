#include "state/survey.h"

#include "state/entry.h"

namespace phsic {

StateSurvey survey(const StateFile& file) {
  StateSurvey found;
  found.version = file.version();
  file.look([&] {
    for (auto& record : file.streams()) {
      StreamSurvey stream;
      stream.snapshots = file.snapshots(record.id);
      stream.journal = file.journal(record.id);
      stream.is_whole = is_journal_whole(file, record.id);
      const auto newest = stream.snapshots.empty() ? SnapshotRecord() : stream.snapshots.front();
      stream.pairs = newest.pairs + file.journal(record.id, newest.number).pairs;
      stream.record = std::move(record);
      found.streams.push_back(std::move(stream));
    }
    found.feed = file.feed();
  });
  return found;
}

bool has_gap(const StateFile& file, std::uint32_t stream) {
  const auto snapshots = file.snapshots(stream);
  const auto journal = file.journal(stream);
  if (journal.entries == 0) return false;
  // What could not be written while the disk failed is in the snapshot after it alone.
  return journal.entries != journal.last - journal.first + 1 ||
         (!snapshots.empty() && snapshots.front().number > journal.last);
}

bool is_journal_whole(const StateFile& file, std::uint32_t stream) {
  bool begins_at_first = false;
  file.read_journal(stream, 0, false,
                    [&](std::uint64_t number, std::uint64_t, std::span<const char> bytes) {
                      try {
                        begins_at_first = number == 1 && parse<Entry>(bytes).place.pairs == 0;
                      } catch (const Error&) {
                        begins_at_first = false;
                      }
                      return false;
                    });
  return begins_at_first && !has_gap(file, stream);
}

}  // namespace phsic
