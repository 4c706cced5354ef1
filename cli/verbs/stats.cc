#include "cli/verbs/stats.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "cli/verbs/stats_table.h"
#include "wire/printable.h"

namespace phsic {

void StatsArguments::add_to(CLI::App& verb) {
  verb.add_flag("--json", json, "print one JSON object instead of tables");
  daemon.add_to(verb);
  verb.add_option("--stream", daemon.stream, "only this stream (default: all)")
      ->type_name("NAME")
      ->group("Daemon");
  verb.footer("docs/protocol.md says what each figure is.");
}

void run_stats(const StatsArguments& arguments) {
  auto client = arguments.daemon.connect();
  const auto answer = client.ask(RequestWriter("stats", arguments.daemon.stream));
  if (arguments.json) {
    fmt::print("{}\n", for_output(answer.answer()));
  } else {
    fmt::print("{}", describe_stats(answer.root()));
  }
}

}  // namespace phsic
