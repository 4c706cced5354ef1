// phsic encoders: what is installed, with options and defaults.
#pragma once

#include <string>
#include <vector>

namespace CLI {  // NOLINT(readability-identifier-naming): it is theirs
class App;
}

namespace phsic {

struct EncodersArguments {
  std::vector<std::string> encoder_path;
  bool json = false;

  void add_to(CLI::App& verb);
};

void run_encoders(const EncodersArguments& arguments);

}  // namespace phsic
