// phsic state rebuild: the pairs of a stream learned again, into a new state file.
#pragma once

#include <string>

#include "cli/arguments.h"
#include "state/stored_options.h"

namespace phsic {

struct StateRebuildArguments {
  std::string file;
  std::string stream;  // empty: the only one
  std::string from;    // a table; empty: the journal
  std::string output;
  bool keep_journal = false;
  TableArguments table;
  ModelArguments model;

  void add_to(CLI::App& verb);
};
void run_state_rebuild(const StateRebuildArguments& arguments);

// Changes options by what a YAML file says. The file of one stream's options changes what it names.
// A daemon's configuration says all that there is to say of a stream, in `defaults` and
// `streams.NAME`; what has to do with serving does not count. Throws an Error that lists everything
// wrong with it.
void change_options(StoredOptions& options, const std::string& file, const std::string& stream);

}  // namespace phsic
