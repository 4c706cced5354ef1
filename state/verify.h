// Is a state file sound, in every part?
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "state/state_file.h"

namespace phsic {

struct StateVerdict {
  std::vector<std::string> problems;  // a line each, with found and expected
  std::vector<std::string> remarks;   // what is worth knowing and no problem
  std::uint64_t streams = 0;
  std::uint64_t snapshots = 0;
  std::uint64_t entries = 0;
  std::uint64_t pairs = 0;    // in these
  bool log_was_read = false;  // SQLite's; not while somebody writes to it
};

// Reads all of it: what SQLite checks, its log, the checksum of every snapshot and entry, that they
// follow on each other, and that none is missing up to the marks beside the file. Changes nothing.
// Throws an Error when it is no state file at all, or not even SQLite can read it.
[[nodiscard]] StateVerdict verify(const std::string& file);

// What is wrong with SQLite's log beside the file, a line each: damage, or a log that is alone,
// which SQLite would throw away. Not while somebody writes to it.
[[nodiscard]] std::vector<std::string> find_log_damage(const std::string& file);
// Of these only the log that is alone; empty: nothing.
[[nodiscard]] std::string find_lone_log(const std::string& file);

}  // namespace phsic
