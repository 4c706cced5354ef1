#include "daemon/net/message_limit.h"

#include <fmt/format.h>

#include <chrono>

#include "daemon/log.h"
#include "wire/request.h"

namespace phsic {

std::string_view peer_of(const Frames& frames) {
  const char* address = zmq_msg_gets(frames.back().handle(), "Peer-Address");
  return address == nullptr ? "" : address;
}

void require_small(const Frames& frames, std::uint64_t most_bytes) {
  for (const auto& frame : frames) {
    if (frame.size() <= most_bytes) continue;
    log(LogLevel::kWarning, "message too large",
        {{"peer", peer_of(frames)}, {"bytes", frame.size()}});
    throw RequestError("too_large", fmt::format("found a frame of {} bytes, expected {} or fewer",
                                                frame.size(), most_bytes));
  }
}

double time_now() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

}  // namespace phsic
