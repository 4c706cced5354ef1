// phsic explain: the learned pairs that raise and lower the score of a pair.
#pragma once

#include <cstdint>
#include <string>

#include "cli/client/connect_arguments.h"

namespace phsic {

struct ExplainArguments {
  std::string x;
  std::string y;
  std::uint64_t top = 5;
  bool json = false;
  ConnectArguments daemon;

  void add_to(CLI::App& verb);
};

void run_explain(const ExplainArguments& arguments);

// The answer to `explain`, for a reader. Throws an Error if it is none.
[[nodiscard]] std::string describe_explanation(const JsonObject& answer);

}  // namespace phsic
