// Where a daemon's sockets are, as ZeroMQ writes it: tcp://HOST:PORT, ipc:///PATH.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace phsic {

inline constexpr std::string_view kDefaultService = "tcp://127.0.0.1:7470";

// Of the endpoints that a daemon says it is bound to, one that can be reached by who has reached
// `service`: of the same transport if there is one, else the first. A host that stands for every
// interface becomes the host of `service`. Empty if there are none.
[[nodiscard]] std::string reachable_endpoint(std::span<const std::string> bound,
                                             std::string_view service);

}  // namespace phsic
