// phsic state info, verify, backup: what looks at a state file, also while a daemon writes to it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/decision_replay.h"
#include "state/state_file.h"
#include "state/stored_options.h"
#include "state/stream_copy.h"

namespace CLI {  // NOLINT(readability-identifier-naming): it is theirs
class App;
}

namespace phsic {

struct StateInfoArguments {
  std::string file;
  bool json = false;

  void add_to(CLI::App& verb);
};
void run_state_info(const StateInfoArguments& arguments);

struct StateVerifyArguments {
  std::string file;
  bool replay = false;
  bool trust = false;
  std::vector<std::string> encoder_path;

  void add_to(CLI::App& verb);
};
// Throws an Error if anything is wrong.
void run_state_verify(const StateVerifyArguments& arguments);

struct StateBackupArguments {
  std::string file;
  std::string to;

  void add_to(CLI::App& verb);
};
void run_state_backup(const StateBackupArguments& arguments);

// What the verbs about state files have in common.
void add_state_file(CLI::App& verb, std::string& file);
[[nodiscard]] StateFile open_state_to_read(const std::string& file);
// A DecisionsOf (state/stored_options.h).
[[nodiscard]] std::unique_ptr<DecisionReplay> remember_decisions(const StoredOptions& options);
void add_trust(CLI::App& verb, bool& trust);
[[nodiscard]] Trust trust_of(bool trust);

}  // namespace phsic
