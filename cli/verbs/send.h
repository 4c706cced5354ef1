// phsic send: a table into the daemon's ingest, pair by pair or as fast as it goes.
#pragma once

#include <cstddef>
#include <string>

#include "cli/arguments.h"
#include "cli/client/connect_arguments.h"

namespace phsic {

struct SendArguments {
  std::string input = "-";
  std::string id;   // a column
  double rate = 0;  // pairs a second; 0: as fast as the daemon takes them
  std::size_t batch = 256;
  bool follow = false;
  std::string endpoint;  // of ingest; empty: the daemon is asked
  TableArguments table;
  ConnectArguments daemon;

  void add_to(CLI::App& verb);
};

void run_send(const SendArguments& arguments);

}  // namespace phsic
