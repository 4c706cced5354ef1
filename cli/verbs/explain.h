// phsic explain: the words and learned pairs that raise and lower the score of a pair, and what its
// judge goes by.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/client/connect_arguments.h"

namespace phsic {

struct ExplainArguments {
  std::string x;
  std::string y;
  std::string id;  // of a pair that a daemon has dropped, instead of two texts
  std::uint64_t top = 5;
  bool json = false;
  std::string model;  // a model file instead of a daemon; empty: none
  bool trust = false;
  std::vector<std::string> encoder_path;
  ConnectArguments daemon;

  void add_to(CLI::App& verb);
};

void run_explain(const ExplainArguments& arguments);

// The answer to `explain`, for a reader. Throws an Error if it is none.
[[nodiscard]] std::string describe_explanation(const JsonObject& answer);

}  // namespace phsic
