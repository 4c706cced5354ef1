#include "cli/client/reachable_endpoint.h"

#include <fmt/format.h>

#include <algorithm>

namespace phsic {
namespace {

constexpr std::string_view kTcp = "tcp://";

// "tcp", or nothing where there is no "://".
std::string_view transport_of(std::string_view endpoint) {
  const auto end = endpoint.find("://");
  return end == std::string_view::npos ? std::string_view() : endpoint.substr(0, end);
}

// The two ends of HOST:PORT, whose host may have colons in it: [::1]:7470.
struct Address {
  std::string_view host;
  std::string_view port;
};

Address address_of(std::string_view tcp_endpoint) {
  const auto address = tcp_endpoint.substr(kTcp.size());
  const auto colon = std::min(address.rfind(':'), address.size());
  return {address.substr(0, colon), address.substr(std::min(colon + 1, address.size()))};
}

bool is_everywhere(std::string_view host) {
  return host == "*" || host == "0.0.0.0" || host == "[::]" || host == "::";
}

}  // namespace

std::string reachable_endpoint(std::span<const std::string> bound, std::string_view service) {
  if (bound.empty()) return {};
  const auto is_alike = [&](const std::string& endpoint) {
    return transport_of(endpoint) == transport_of(service);
  };
  const auto alike = std::find_if(bound.begin(), bound.end(), is_alike);
  const std::string& chosen = alike == bound.end() ? bound.front() : *alike;
  if (!chosen.starts_with(kTcp)) return chosen;
  const auto address = address_of(chosen);
  if (!is_everywhere(address.host)) return chosen;
  // What is bound everywhere is bound here, too, and a path says that the daemon is here.
  std::string_view host = "127.0.0.1";
  if (service.starts_with(kTcp) && !is_everywhere(address_of(service).host)) {
    host = address_of(service).host;
  }
  return fmt::format("{}{}:{}", kTcp, host, address.port);
}

}  // namespace phsic
