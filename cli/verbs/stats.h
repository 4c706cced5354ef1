// phsic stats: everything that a daemon tells of itself and its streams.
#pragma once

#include "cli/client/connect_arguments.h"

namespace phsic {

struct StatsArguments {
  bool json = false;
  ConnectArguments daemon;

  void add_to(CLI::App& verb);
};

void run_stats(const StatsArguments& arguments);

}  // namespace phsic
