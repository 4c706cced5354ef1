// Which daemon and which of its streams, on the command line.
#pragma once

#include <string>

#include "cli/client/client.h"
#include "cli/client/reachable_endpoint.h"

namespace CLI {  // NOLINT(readability-identifier-naming): it is theirs
class App;
}

namespace phsic {

struct ConnectArguments {
  std::string endpoint{kDefaultService};  // of the daemon's socket `service`
  std::string stream;                     // empty: the only one
  double timeout = 30;                    // seconds

  // For a verb that talks to a daemon and nothing else.
  void add_to(CLI::App& verb);
  void add_stream_to(CLI::App& verb);
  // For a verb that can do without, which it does if `endpoint` is empty.
  void add_as_choice_to(CLI::App& verb);

  [[nodiscard]] Client connect() const;
  [[nodiscard]] Milliseconds patience() const;
};

// An endpoint of the daemon's socket `ingest` or `feed`, which the daemon is asked for.
[[nodiscard]] std::string ask_for_endpoint(Client& client, const std::string& socket);

}  // namespace phsic
