// phsic rank: the candidates of each context, best first.
#pragma once

#include <string>

#include "cli/arguments.h"

namespace phsic {

struct RankArguments {
  std::string input = "-";
  std::string learn;
  TableArguments table;
  ModelArguments model;

  void add_to(CLI::App& verb);
};

void run_rank(const RankArguments& arguments);

}  // namespace phsic
