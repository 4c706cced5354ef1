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

bool is_journal_whole(const StateFile& file, std::uint32_t stream) {
  bool is_whole = false;
  file.read_journal(stream, 0, false,
                    [&](std::uint64_t number, std::uint64_t, std::span<const char> bytes) {
                      try {
                        is_whole = number == 1 && parse<Entry>(bytes).place.pairs == 0;
                      } catch (const Error&) {
                        is_whole = false;
                      }
                      return false;
                    });
  return is_whole;
}

}  // namespace phsic
