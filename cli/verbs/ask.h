// phsic refresh, snapshot, streams, ping: one request, and what the daemon answers.
#pragma once

#include <string>

#include "cli/client/connect_arguments.h"

namespace phsic {

struct RefreshArguments {
  bool all = false;
  bool json = false;
  ConnectArguments daemon;

  void add_to(CLI::App& verb);
};
void run_refresh(const RefreshArguments& arguments);

struct SnapshotArguments {
  bool json = false;
  ConnectArguments daemon;

  void add_to(CLI::App& verb);
};
void run_snapshot(const SnapshotArguments& arguments);

// Of verbs that ask the daemon itself, and not one of its streams.
struct AskArguments {
  bool json = false;
  ConnectArguments daemon;

  void add_to(CLI::App& verb);
};
void run_streams(const AskArguments& arguments);
void run_ping(const AskArguments& arguments);

// The answers, for a reader. Each throws an Error if it is none.
[[nodiscard]] std::string describe_members(const JsonObject& answer);
[[nodiscard]] std::string describe_streams(const JsonObject& answer);
[[nodiscard]] std::string describe_ping(const JsonObject& answer);

}  // namespace phsic
