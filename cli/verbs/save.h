// phsic save: a daemon's stream as a model file.
#pragma once

#include <string>
#include <vector>

#include "cli/client/connect_arguments.h"

namespace phsic {

struct SaveArguments {
  std::string output;
  bool force = false;
  bool trust = false;
  std::vector<std::string> encoder_path;
  ConnectArguments daemon;

  void add_to(CLI::App& verb);
};

void run_save(const SaveArguments& arguments);

}  // namespace phsic
