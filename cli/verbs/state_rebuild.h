// phsic state rebuild: the pairs of a stream learned again, into a new state file.
#pragma once

#include <string>

#include "cli/arguments.h"

namespace phsic {

struct StateRebuildArguments {
  std::string file;
  std::string stream;  // empty: the only one
  std::string from;    // a table; empty: the journal
  std::string output;
  bool keep_journal = false;
  bool trust = false;
  TableArguments table;
  ModelArguments model;

  void add_to(CLI::App& verb);
};
void run_state_rebuild(const StateRebuildArguments& arguments);

}  // namespace phsic
