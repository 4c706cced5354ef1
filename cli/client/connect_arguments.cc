#include "cli/client/connect_arguments.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>

#include "wire/answer_reader.h"

namespace phsic {
namespace {

constexpr const char* kGroup = "Daemon";
constexpr double kLongestTimeout = 86400;

void add_endpoint(CLI::App& verb, std::string& endpoint, const std::string& about) {
  verb.add_option("--connect", endpoint, about)->type_name("ENDPOINT")->group(kGroup);
}

void add_timeout(CLI::App& verb, double& timeout) {
  verb.add_option("--timeout", timeout,
                  "seconds to wait for an answer, ten times as long for a new model (default: 30)")
      ->check(CLI::Range(0.001, kLongestTimeout))
      ->type_name("SECONDS")
      ->group(kGroup);
}

}  // namespace

void ConnectArguments::add_to(CLI::App& verb) {
  add_endpoint(verb, endpoint,
               fmt::format("the daemon's service endpoint (default: {})", kDefaultService));
  add_timeout(verb, timeout);
}

void ConnectArguments::add_stream_to(CLI::App& verb) {
  verb.add_option("--stream", stream, "which stream of the daemon (default: its only one)")
      ->type_name("NAME")
      ->group(kGroup);
}

void ConnectArguments::add_as_choice_to(CLI::App& verb) {
  endpoint.clear();
  add_endpoint(verb, endpoint,
               fmt::format("work with a stream of the daemon whose service is there, such as {}, "
                           "instead of one of one's own",
                           kDefaultService));
  add_stream_to(verb);
  add_timeout(verb, timeout);
  verb.get_option("--timeout")->needs("--connect");
}

Milliseconds ConnectArguments::patience() const {
  return Milliseconds(static_cast<std::int64_t>(std::ceil(timeout * 1000)));
}

Client ConnectArguments::connect() const { return Client(endpoint, patience()); }

std::string ask_for_endpoint(Client& client, const std::string& socket) {
  const auto answer = client.ask(RequestWriter("ping", ""));
  const auto bound = read_endpoints(answer.root(), socket);
  auto endpoint = reachable_endpoint(bound, client.endpoint());
  if (endpoint.empty()) {
    throw Error(fmt::format("{}: the daemon has no {} endpoint, expected one in its configuration",
                            client.endpoint(), socket));
  }
  return endpoint;
}

}  // namespace phsic
