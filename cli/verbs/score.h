// phsic score: each line of a table again, with its score.
#pragma once

#include <string>
#include <vector>

#include "cli/arguments.h"

namespace phsic {

struct ScoreArguments {
  std::string input = "-";
  std::string learn;  // a table to learn from first
  bool two_pass = false;
  std::string output = "-";
  std::string score_name = "score";
  std::vector<std::string> with;  // "percentile", "p-value"
  bool score_only = false;
  bool flush = false;
  TableArguments table;
  ModelArguments model;

  void add_to(CLI::App& verb);
};

void run_score(const ScoreArguments& arguments);

}  // namespace phsic
