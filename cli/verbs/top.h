// phsic top: how a daemon's streams do, again and again.
#pragma once

#include <cstdint>
#include <string>

#include "cli/client/connect_arguments.h"

namespace phsic {

struct TopArguments {
  double interval = 1;      // seconds
  std::uint64_t count = 0;  // 0: until Ctrl-C
  ConnectArguments daemon;

  void add_to(CLI::App& verb);
};

void run_top(const TopArguments& arguments);

// Two answers to `stats`, so many seconds apart, as a table with a row for each stream. Throws an
// Error if they are none.
[[nodiscard]] std::string describe_top(const JsonObject& before, const JsonObject& now,
                                       double seconds);

}  // namespace phsic
