// phsic filter: the pairs that are worth keeping, in their order.
#pragma once

#include <string>
#include <vector>

#include "cli/verbs/table_pass.h"

namespace phsic {

struct FilterArguments {
  PassArguments pass;
  std::vector<std::string> outputs = {"-"};
  std::vector<std::string> rejected;  // where rejected pairs go; empty: nowhere
  bool annotate = false;
  bool score_only = false;
  std::string decision_name = "decision";  // of the columns that are added
  std::string reason_name = "reason";
  std::string stats;  // a JSON file; empty: none

  void add_to(CLI::App& verb);
};

void run_filter(const FilterArguments& arguments);

}  // namespace phsic
