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

struct StreamsArguments {
  bool json = false;
  ConnectArguments daemon;

  void add_to(CLI::App& verb);
};
void run_streams(const StreamsArguments& arguments);

struct PingArguments {
  bool json = false;
  ConnectArguments daemon;

  void add_to(CLI::App& verb);
};
void run_ping(const PingArguments& arguments);

// The answers, for a reader. Each throws an Error if it is none.
[[nodiscard]] std::string describe_members(const JsonObject& reply);
[[nodiscard]] std::string describe_streams(const JsonObject& reply);
[[nodiscard]] std::string describe_ping(const JsonObject& reply);

}  // namespace phsic
