// phsic learn: a model file from tables of pairs.
#pragma once

#include <string>
#include <vector>

#include "cli/arguments.h"

namespace phsic {

struct LearnArguments {
  std::vector<std::string> corpora = {"-"};
  bool aligned = false;  // the corpora are two files whose lines are pairs
  std::string output;
  bool update = false;
  bool force = false;
  std::string name;  // of the stream; empty: that of the file, without its ending
  TableArguments table;
  ModelArguments model;

  void add_to(CLI::App& verb);
};

void run_learn(const LearnArguments& arguments);

}  // namespace phsic
