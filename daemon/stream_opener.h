// From a configuration to streams that are ready to work, with what the state has of them.
//
// Owns the state file: its lock and its writer. Opening takes long; any thread may do it, but one
// at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "daemon/config.h"
#include "daemon/restart.h"
#include "daemon/start_progress.h"
#include "state/state_lock.h"
#include "state/state_writer.h"
#include "state/stream_journal.h"

namespace phsic {

// A stream on its way to its lane.
struct PreparedStream {
  OpenedStream opened;
  std::unique_ptr<StreamJournal> journal;     // null: nothing is kept
  std::map<std::string, std::uint64_t> feed;  // the last numbers that were given
};

[[nodiscard]] std::vector<std::string> names_of(
    const std::map<std::string, PreparedStream>& streams);

class StreamOpener {
 public:
  // Locks the state, if there is one. Both watchers are called from other threads. Throws an Error.
  StreamOpener(const Config& config, StateWriter::Watcher watcher,
               StateWriter::LogWatcher log_watcher);

  // All streams of a daemon that starts. Throws an Error that says what is wrong, or an Interrupted
  // when `progress` was cancelled.
  [[nodiscard]] std::vector<PreparedStream> open_all(const Config& config, StartMode mode,
                                                     StartProgress& progress);
  // Those that `wanted` has and `running` has not, by name. Throws the same, and leaves nothing in
  // the state then.
  [[nodiscard]] std::map<std::string, PreparedStream> open_new(const Config& running,
                                                               const Config& wanted,
                                                               StartProgress& progress);
  // Streams that open_new() gave are not going to be used: nothing of them stays in the state,
  // where it had nothing of them before. REQUIRES: they are not at work.
  void withdraw(const std::vector<std::string>& names);

  // Null: nothing is kept, or not yet.
  [[nodiscard]] StateWriter* state_writer() const { return state_writer_.get(); }
  // Writes what was handed in. REQUIRES: no journal is left.
  void close() { state_writer_ = nullptr; }

 private:
  [[nodiscard]] std::unique_ptr<StateWriter> make_state_writer(const Config& config);
  [[nodiscard]] PreparedStream prepare(const Config& config, const StreamSettings& settings,
                                       OpenedStream opened,
                                       const std::map<std::string, std::uint64_t>& feed);

  const StateWriter::Watcher watcher_;
  const StateWriter::LogWatcher log_watcher_;
  std::unique_ptr<StateLock> lock_;            // null: nothing is kept
  std::unique_ptr<StateWriter> state_writer_;  // outlives the journals
};

}  // namespace phsic
