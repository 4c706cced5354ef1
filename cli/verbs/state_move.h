// phsic state export, import, merge: streams in portable files.
#pragma once

#include <string>
#include <vector>

namespace CLI {  // NOLINT(readability-identifier-naming): it is theirs
class App;
}

namespace phsic {

struct StateExportArguments {
  std::string file;
  std::string stream;  // empty: the only one
  std::string output;
  bool force = false;
  bool despite_damage = false;
  bool trust = false;
  std::vector<std::string> encoder_path;

  void add_to(CLI::App& verb);
};
void run_state_export(const StateExportArguments& arguments);

struct StateImportArguments {
  std::string file;
  std::string input;
  std::string name;  // empty: the one that it has
  bool trust = false;
  std::vector<std::string> encoder_path;

  void add_to(CLI::App& verb);
};
void run_state_import(const StateImportArguments& arguments);

struct StateMergeArguments {
  std::vector<std::string> inputs;
  std::string output;
  std::string name;  // empty: that of the first
  bool force = false;
  bool trust = false;
  std::vector<std::string> encoder_path;

  void add_to(CLI::App& verb);
};
void run_state_merge(const StateMergeArguments& arguments);

}  // namespace phsic
