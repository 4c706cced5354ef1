// What is in a state file, in numbers.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "state/state_file.h"

namespace phsic {

struct StreamSurvey {
  StreamRecord record;
  std::uint64_t pairs = 0;                // in the newest snapshot and the journal after it
  std::vector<SnapshotRecord> snapshots;  // newest first
  JournalExtent journal;
  bool is_whole = false;  // does the journal have every pair?
};

struct StateSurvey {
  int version = 0;
  std::vector<StreamSurvey> streams;
  std::map<std::string, std::uint64_t> feed;
};

// All of one moment, whoever writes meanwhile.
[[nodiscard]] StateSurvey survey(const StateFile& file);

// Are entries missing between the first and the last of the journal, or up to the newest snapshot?
[[nodiscard]] bool has_gap(const StateFile& file, std::uint32_t stream);

// Does the journal of a stream begin with its first pair, and have all since? Entry 1 of a stream
// that was put into the file with what it had learned elsewhere comes after pairs that no journal
// has.
[[nodiscard]] bool is_journal_whole(const StateFile& file, std::uint32_t stream);

}  // namespace phsic
