// Opening streams, and bringing back what the state file has of them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "daemon/config.h"
#include "engine/stream.h"
#include "state/recovery.h"

namespace phsic {

// A stream, ready for its lane.
struct OpenedStream {
  std::unique_ptr<Stream> stream;
  Recovery recovery;
};

struct Restart {
  std::vector<OpenedStream> streams;  // as they were asked for
  std::map<std::string, std::uint64_t> feed;
  std::vector<std::string> damage;  // all that was found; empty: nothing
  // The journal cannot be gone on with where it ended: snapshots have to come first.
  [[nodiscard]] bool needs_snapshots() const { return !damage.empty(); }
};

enum class Beginning {
  kGoOn,   // if anything is damaged, the file is copied before anyone writes to it
  kFresh,  // the file is set aside, and what does not fit is removed from the one that stays
  kJoin,   // others have the file open: it is only read, and must be whole
};

// Opens the streams and recovers each from `state` (empty: there is none). Throws an Error with the
// path of the stream that it is about.
[[nodiscard]] Restart open_streams(const std::vector<StreamSettings>& streams,
                                   const EncoderPath& path, const std::string& state,
                                   Beginning beginning);

}  // namespace phsic
