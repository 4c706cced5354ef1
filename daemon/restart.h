// Opens streams, and recovers what the state file has of them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "daemon/config.h"
#include "daemon/start_progress.h"
#include "engine/stream.h"
#include "state/recovery.h"

namespace phsic {

// A stream, ready for its lane.
struct OpenedStream {
  std::unique_ptr<Stream> stream;
  Recovery recovery;
};

struct Restart {
  std::vector<OpenedStream> streams;  // in the order in which they were asked for
  std::map<std::string, std::uint64_t> feed;
  std::vector<std::string> damage;  // all that was found; empty: nothing
  std::vector<std::string> unfit;   // streams whose state is of no use, and is given up
  bool forgets = false;             // the marks beside the file tell of what is given up
  // The file must be replaced by a new one.
  [[nodiscard]] bool needs_new_file() const { return !damage.empty() || !unfit.empty(); }
};

enum class StartMode {
  kGoOn,
  kFresh,  // what does not fit or cannot be read is given up
  kJoin,   // others have the file open: it must be whole
};

// Opens the streams and recovers each from `state` (empty: there is none), which is only read.
// Throws an Error with the path of the stream that it is about, or an Interrupted when `progress`
// was cancelled.
[[nodiscard]] Restart open_streams(const std::vector<StreamSettings>& streams,
                                   const EncoderPath& path, const std::string& state,
                                   StartMode mode, StartProgress& progress);

// Throws an Error with the path of the stream.
[[nodiscard]] std::unique_ptr<Stream> open_stream(const StreamSettings& settings,
                                                  const EncoderPath& path);

// Why a daemon cannot go on with a file that is not there, or has nothing in it: its log, or the
// marks beside it, tell of what is missing. Empty: nothing is missing, the state is new.
[[nodiscard]] std::string find_missing_state(const std::string& state);

// Writes all that was recovered, and what the file has of other streams, into a new file in its
// place. REQUIRES: needs_new_file(), and the caller holds the lock of the file. Throws an Error
// when it cannot be written; the old file is then as it was.
void replace_state(const Config& config, Restart& restart);

}  // namespace phsic
