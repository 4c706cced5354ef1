#include "cli/verbs/ask.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>

#include "cli/arguments.h"
#include "cli/verbs/stats_table.h"
#include "wire/answer_reader.h"
#include "wire/printable.h"

namespace phsic {
namespace {

// Asks, and prints the answer in either way.
void print_answer(const ConnectArguments& daemon, const RequestWriter& request, Patience patience,
                  bool json, std::string (*describe_answer)(const JsonObject&)) {
  auto client = daemon.connect();
  const auto answer = client.ask(request, patience);
  if (json) {
    fmt::print("{}\n", for_output(answer.answer()));
  } else {
    fmt::print("{}", describe_answer(answer.root()));
  }
}

}  // namespace

void RefreshArguments::add_to(CLI::App& verb) {
  verb.add_flag("--all", all, "take in the newest pairs, too, which are held back to measure with");
  add_json_flag(verb, json);
  daemon.add_to(verb);
  daemon.add_stream_to(verb);
}

void run_refresh(const RefreshArguments& arguments) {
  RequestWriter request("refresh", arguments.daemon.stream);
  if (arguments.all) request.add_true("all");
  print_answer(arguments.daemon, request, Patience::kLong, arguments.json, describe_members);
}

std::string describe_members(const JsonObject& answer) {
  std::vector<std::vector<std::string>> rows;
  for (const auto [name, value] : answer.members()) {
    if (name == "ok" || name == "id") continue;
    rows.push_back({printable(name), describe_value(name, value)});
  }
  return align(rows);
}

void SnapshotArguments::add_to(CLI::App& verb) {
  add_json_flag(verb, json);
  daemon.add_to(verb);
  daemon.add_stream_to(verb);
}

void run_snapshot(const SnapshotArguments& arguments) {
  print_answer(arguments.daemon, RequestWriter("snapshot", arguments.daemon.stream),
               Patience::kLong, arguments.json, describe_members);
}

void AskArguments::add_to(CLI::App& verb) {
  add_json_flag(verb, json);
  daemon.add_to(verb);
}

void run_streams(const AskArguments& arguments) {
  print_answer(arguments.daemon, RequestWriter("streams", ""), Patience::kShort, arguments.json,
               describe_streams);
}

std::string describe_streams(const JsonObject& answer) {
  std::string text;
  for (const auto& stream : read_streams(answer)) {
    text += fmt::format("{}: {} pairs learned, model {}\n", printable(stream.name), stream.pairs,
                        stream.model);
    for (const auto& [name, value] : stream.options) {
      text += fmt::format("  {}: {}\n", printable(name), printable(value));
    }
  }
  return text;
}

void run_ping(const AskArguments& arguments) {
  print_answer(arguments.daemon, RequestWriter("ping", ""), Patience::kShort, arguments.json,
               describe_ping);
}

std::string describe_ping(const JsonObject& answer) {
  auto text = fmt::format("phsicd {}\n", printable(answer.text("version")));
  for (const char* socket : {"service", "ingest", "feed"}) {
    for (const auto& endpoint : read_endpoints(answer, socket)) {
      text += fmt::format("  {:<8} {}\n", socket, printable(endpoint));
    }
  }
  if (const auto keeping = answer.find_flag("keeping")) {
    text += *keeping ? "  what is learned is kept\n" : "  what is learned is NOT kept\n";
  }
  if (const auto starting = answer.find_object("starting")) {
    text += fmt::format("  starting: {}", printable(starting->text("doing")));
    if (const auto stream = starting->find_text("stream")) text += " " + printable(*stream);
    if (const auto of = starting->count("of"); of > 0) {
      text += fmt::format(", {} of {} pairs", starting->count("pairs"), of);
    }
    text += '\n';
  }
  return text;
}

}  // namespace phsic
