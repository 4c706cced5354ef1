#include "daemon/net/endpoint.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/un.h>

#include <algorithm>
#include <array>

#include "core/error.h"
#include "engine/option_value.h"

namespace phsic {
namespace {

constexpr std::size_t kMaxName = 255;  // of a host, an interface, an inproc socket

constexpr std::string_view kForms =
    "tcp://ADDRESS:PORT, ipc://PATH or inproc://NAME, such as tcp://127.0.0.1:7470";

// The usual way to write an address, or empty if it is none of that family.
std::string normal_address(int family, const std::string& text) {
  std::array<unsigned char, sizeof(in6_addr)> bytes{};
  std::array<char, INET6_ADDRSTRLEN> normal{};
  if (inet_pton(family, text.c_str(), bytes.data()) != 1) return {};
  return inet_ntop(family, bytes.data(), normal.data(), normal.size());
}

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

// "127.0.0.1", "[::1]", "eth0", "host.example"
std::string tcp_address(std::string_view text, std::string_view host) {
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    const std::string inner(host.substr(1, host.size() - 2));
    const auto zone = std::min(inner.find('%'), inner.size());
    const auto normal = normal_address(AF_INET6, inner.substr(0, zone));
    if (normal.empty()) refuse_value(text, "an IPv6 address in the brackets, such as [::1]");
    return fmt::format("[{}{}]", normal, inner.substr(zone));
  }
  if (host.find(':') != std::string_view::npos) {
    refuse_value(text, "an IPv6 address to be in brackets, such as tcp://[::1]:7470");
  }
  if (host.find_first_not_of("0123456789.") == std::string_view::npos) {
    auto normal = normal_address(AF_INET, std::string(host));
    if (normal.empty()) refuse_value(text, "an address such as 127.0.0.1");
    return normal;
  }
  const bool is_name = host.size() <= kMaxName && std::all_of(host.begin(), host.end(), [](char c) {
                         return is_letter_or_digit(c) || c == '-' || c == '.' || c == '_';
                       });
  if (!is_name) refuse_value(text, kForms);
  return std::string(host);
}

Endpoint tcp_endpoint(std::string_view text, std::string_view rest, bool binds) {
  const auto colon = rest.rfind(':');
  if (colon == std::string_view::npos || colon == 0) refuse_value(text, kForms);
  const auto host = rest.substr(0, colon);
  const auto port = rest.substr(colon + 1);
  if (!binds && (host == "*" || port == "*"))
    refuse_value(text, "an address and a port to connect to");
  if (binds && host == "localhost") {
    refuse_value(text, "an address such as 127.0.0.1: ZeroMQ binds to no host name");
  }
  Endpoint endpoint;
  endpoint.address = host == "*" ? "*" : tcp_address(text, host);
  if (port == "*") return endpoint;
  try {
    endpoint.port = whole_value<std::uint16_t>(port, 1, UINT16_MAX);
  } catch (const Error&) {
    refuse_value(text, binds ? "a port from 1 to 65535, or * for any" : "a port from 1 to 65535");
  }
  return endpoint;
}

Endpoint ipc_endpoint(std::string_view text, std::string_view path, bool binds) {
  constexpr auto kMaxPath = sizeof(sockaddr_un::sun_path) - 1;
  if (path.empty() || path == "@")
    refuse_value(text, "ipc://PATH, such as ipc:///run/phsicd/service");
  if (!binds && path == "*") refuse_value(text, "a path to connect to");
  if (path.size() > kMaxPath) {
    throw Error(
        fmt::format("found a path of {} bytes, expected at most {}, as the path of a socket",
                    path.size(), kMaxPath));
  }
  return {Endpoint::Transport::kIpc, std::string(path), 0};
}

Endpoint read_endpoint(std::string_view text, bool binds) {
  const auto slashes = text.find("://");
  if (slashes == std::string_view::npos) refuse_value(text, kForms);
  const auto transport = text.substr(0, slashes);
  const auto rest = text.substr(slashes + 3);
  if (transport == "tcp") return tcp_endpoint(text, rest, binds);
  if (text.find('\0') != std::string_view::npos) refuse_value(text, kForms);
  if (transport == "ipc") return ipc_endpoint(text, rest, binds);
  if (transport != "inproc" || rest.empty() || rest.size() > kMaxName) refuse_value(text, kForms);
  return {Endpoint::Transport::kInproc, std::string(rest), 0};
}

}  // namespace

Endpoint Endpoint::to_bind(std::string_view text) { return read_endpoint(text, true); }

Endpoint Endpoint::to_connect(std::string_view text) { return read_endpoint(text, false); }

bool Endpoint::is_any() const {
  return (transport == Transport::kTcp && port == 0) ||
         (transport == Transport::kIpc && address == "*");
}

bool Endpoint::leads_to(const Endpoint& bound) const {
  if (bound.is_any() || transport != bound.transport) return false;
  if (transport != Transport::kTcp || address == bound.address) return *this == bound;
  const bool is_here = address == "localhost" || is_local();
  const bool is_everywhere =
      bound.address == "*" || bound.address == "0.0.0.0" || bound.address == "[::]";
  return port == bound.port && is_here && (is_everywhere || address == "localhost");
}

bool Endpoint::is_local() const {
  if (transport != Transport::kTcp) return true;
  if (address == "lo" || address == "[::1]" || address.starts_with("[::ffff:127.")) return true;
  return address.starts_with("127.") && !normal_address(AF_INET, address).empty();
}

}  // namespace phsic
