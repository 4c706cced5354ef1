// phsic score: each line of a table again, with its score.
#pragma once

#include <string>
#include <vector>

#include "cli/verbs/table_pass.h"

namespace phsic {

struct ScoreArguments {
  PassArguments pass;
  std::string output = "-";
  std::string score_name = "score";
  std::vector<std::string> with;  // "percentile", "p-value", "decision", "reason"
  bool score_only = false;

  void add_to(CLI::App& verb);
};

void run_score(const ScoreArguments& arguments);

}  // namespace phsic
