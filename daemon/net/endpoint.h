// Where a socket is: tcp://ADDRESS:PORT, ipc://PATH or inproc://NAME.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace phsic {

struct Endpoint {
  enum class Transport { kTcp, kIpc, kInproc };
  Transport transport = Transport::kTcp;
  std::string address;     // an address or interface, a path, a name; * is any
  std::uint16_t port = 0;  // of tcp; 0: any free one

  bool operator==(const Endpoint&) const = default;

  // Throw an Error that says what was found and what was expected. ZeroMQ binds to addresses and
  // interfaces but not to host names; it connects to host names but not to anything with *.
  [[nodiscard]] static Endpoint to_bind(std::string_view text);
  [[nodiscard]] static Endpoint to_connect(std::string_view text);

  // True if binding to it gives another place each time.
  [[nodiscard]] bool is_any() const;
  // True if a connection to it leads to the socket that is bound to `bound` on this machine, as far
  // as can be seen.
  [[nodiscard]] bool leads_to(const Endpoint& bound) const;
  // True if nobody outside this machine can reach it.
  [[nodiscard]] bool is_local() const;
};

}  // namespace phsic
