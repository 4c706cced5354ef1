// Refuses messages that are too large. ZeroMQ itself refuses those of more than twice the limit.
#pragma once

#include <cstdint>
#include <string_view>

#include "daemon/net/socket.h"

namespace phsic {

// Where a message came from: an address, or who is at the other end of a local socket.
[[nodiscard]] std::string_view peer_of(const Frames& frames);

// Throws a RequestError, and logs the peer, if a frame has more bytes.
void require_small(const Frames& frames, std::uint64_t most_bytes);

// Seconds since 1970.
[[nodiscard]] double time_now();

}  // namespace phsic
