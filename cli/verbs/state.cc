#include "cli/verbs/state.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/arguments.h"
#include "core/error.h"
#include "decide/memory_replay.h"
#include "state/state_lock.h"
#include "state/stored_options.h"
#include "state/survey.h"
#include "state/verify.h"
#include "state/whole_file.h"
#include "wire/printable.h"

namespace phsic {
namespace {

using Json = nlohmann::ordered_json;

// Any number at all may stand in a damaged file.
std::string time_text(double seconds) {
  constexpr double kLatest = 253402300799;  // the last second of the year 9999
  if (!(seconds >= 0 && seconds <= kLatest)) return "at no time";
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(static_cast<std::time_t>(seconds)));
}

std::uintmax_t size_of(const std::string& file) {
  std::error_code missing;
  const auto size = std::filesystem::file_size(file, missing);
  return missing ? 0 : size;
}

std::vector<std::pair<std::string, std::string>> identity_of(const StreamRecord& record) {
  std::vector<std::pair<std::string, std::string>> traits;
  std::string_view rest = record.identity;
  while (!rest.empty()) {
    const auto end = std::min(rest.find('\n'), rest.size());
    const auto line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const auto colon = std::min(line.find(": "), line.size());
    traits.emplace_back(line.substr(0, colon), line.substr(std::min(colon + 2, line.size())));
  }
  return traits;
}

Json json_of(const StreamSurvey& stream) {
  Json out;
  out["name"] = stream.record.name;
  out["created"] = stream.record.created;
  out["pairs"] = stream.pairs;
  out["identity"] = Json::object();
  for (const auto& [name, value] : identity_of(stream.record)) out["identity"][name] = value;
  out["options"] = Json::parse(stream.record.options, nullptr, /*allow_exceptions=*/false);
  if (out["options"].is_discarded()) out["options"] = nullptr;
  out["snapshots"] = Json::array();
  for (const auto& snapshot : stream.snapshots) {
    out["snapshots"].push_back({{"pairs", snapshot.pairs},
                                {"taken", snapshot.taken},
                                {"bytes", snapshot.bytes},
                                {"program", snapshot.program}});
  }
  out["journal"] = {{"entries", stream.journal.entries}, {"pairs", stream.journal.pairs},
                    {"bytes", stream.journal.bytes},     {"first", stream.journal.first},
                    {"last", stream.journal.last},       {"whole", stream.is_whole}};
  return out;
}

void print(const StreamSurvey& stream) {
  fmt::print("\n{}: {} pairs, in this file since {}\n", printable(stream.record.name), stream.pairs,
             time_text(stream.record.created));
  fmt::print("  learned with\n");
  for (const auto& [name, value] : identity_of(stream.record)) {
    fmt::print("    {}: {}\n", printable(name), printable(value));
  }
  fmt::print("  options\n");
  try {
    for (const auto& [name, value] : parse_options(stream.record.options)) {
      fmt::print("    {}: {}\n", printable(name), printable(value));
    }
  } catch (const Error& problem) {
    fmt::print("    {}\n", printable(problem.what()));
  }
  fmt::print("  snapshots{}\n", stream.snapshots.empty() ? ": none" : "");
  for (const auto& snapshot : stream.snapshots) {
    fmt::print("    {} pairs, {}, {} bytes{}{}\n", snapshot.pairs, time_text(snapshot.taken),
               snapshot.bytes, snapshot.program.empty() ? "" : ", by ",
               printable(snapshot.program));
  }
  if (stream.journal.entries == 0) {
    fmt::print("  journal: empty\n");
    return;
  }
  fmt::print("  journal: {} entries from {} on, {} pairs, {} bytes, {}\n", stream.journal.entries,
             stream.journal.first, stream.journal.pairs, stream.journal.bytes,
             stream.is_whole ? "whole" : "not whole");
}

// Each stream, from its snapshot and the journal. Returns how many problems there were.
std::size_t replay_all(const StateFile& file, const EncoderPath& path, Trust trust) {
  std::size_t problems = 0;
  for (const auto& record : file.streams()) {
    try {
      const auto copy = take_out(file, record, path, trust, {}, remember_decisions);
      for (const auto& remark : copy.remarks) fmt::print("{}\n", printable(remark));
      problems += copy.remarks.size();
      fmt::print("stream {}: recovered {} pairs, {} of them from the journal\n",
                 printable(record.name), copy.stream->pairs(), copy.replayed);
    } catch (const Error& problem) {
      fmt::print("stream {}: cannot be recovered: {}\n", printable(record.name),
                 printable(problem.what()));
      ++problems;
    }
  }
  return problems;
}

}  // namespace

std::unique_ptr<DecisionReplay> remember_decisions(const StoredOptions& options) {
  return std::make_unique<MemoryReplay>(plan_of(decide_spec_of(options), spec_of(options)));
}

void add_state_file(CLI::App& verb, std::string& file) {
  verb.add_option("FILE", file, "the state file of a daemon")->required();
}

void add_trust(CLI::App& verb, bool& trust) {
  verb.add_flag("--trust", trust, "load an encoder that the file names by its path");
}

Trust trust_of(bool trust) { return trust ? Trust::kPathsToo : Trust::kNamesOnly; }

StateFile open_state_to_read(const std::string& file) {
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) {
    throw Error(fmt::format("{}: found no such file, expected the state of a daemon", file));
  }
  try {
    return {file, Database::Access::kRead};
  } catch (const DatabaseError& problem) {
    const int code = problem.code() & 0xff;
    if (code != SQLITE_READONLY && code != SQLITE_CANTOPEN) throw;
    throw Error(fmt::format(
        "{}; expected a folder that can be written to, for SQLite's log beside the file. A copy "
        "that was made by `phsic state backup` needs none.",
        problem.what()));
  }
}

void StateInfoArguments::add_to(CLI::App& verb) {
  add_state_file(verb, file);
  verb.add_flag("--json", json, "print one JSON object instead");
}

void run_state_info(const StateInfoArguments& arguments) {
  // Before it is opened: see StateLock.
  const bool is_in_use = StateLock::is_held(arguments.file);
  const auto file = open_state_to_read(arguments.file);
  const auto found = survey(file);
  if (arguments.json) {
    Json out;
    out["file"] = arguments.file;
    out["version"] = found.version;
    out["in_use"] = is_in_use;
    out["streams"] = Json::array();
    for (const auto& stream : found.streams) out["streams"].push_back(json_of(stream));
    out["feed"] = found.feed;
    fmt::print("{}\n", for_output(out.dump(-1, ' ', false, Json::error_handler_t::replace)));
    return;
  }
  fmt::print("{}: version {}, {} bytes, {} in its log{}\n", arguments.file, found.version,
             size_of(arguments.file), size_of(arguments.file + "-wal"),
             is_in_use ? ", in use by a daemon" : "");
  for (const auto& stream : found.streams) print(stream);
  if (!found.feed.empty()) fmt::print("\nfeed\n");
  for (const auto& [topic, last] : found.feed) fmt::print("  {}: {}\n", printable(topic), last);
}

void StateVerifyArguments::add_to(CLI::App& verb) {
  add_state_file(verb, file);
  verb.add_flag("--replay", replay, "also recover each stream, as a daemon does at its start");
  add_trust(verb, trust);
  add_encoder_path(verb, encoder_path);
}

void run_state_verify(const StateVerifyArguments& arguments) {
  static_cast<void>(open_state_to_read(arguments.file));
  const auto verdict = verify(arguments.file);
  for (const auto& problem : verdict.problems) fmt::print("{}\n", printable(problem));
  for (const auto& remark : verdict.remarks) fmt::print("{}\n", printable(remark));
  auto problems = verdict.problems.size();
  if (arguments.replay) {
    const EncoderPath path({arguments.encoder_path.begin(), arguments.encoder_path.end()});
    const auto file = open_state_to_read(arguments.file);
    file.look([&] { problems += replay_all(file, path, trust_of(arguments.trust)); });
  }
  fmt::print("streams: {}, snapshots: {}, entries of the journal: {}, pairs in them: {}{}\n",
             verdict.streams, verdict.snapshots, verdict.entries, verdict.pairs,
             verdict.log_was_read ? "" : "; in use by a daemon, so SQLite's log was not looked at");
  if (problems > 0) {
    throw Error(fmt::format("{}: found {} problems, expected none", arguments.file, problems));
  }
  fmt::print("nothing is wrong\n");
}

void StateBackupArguments::add_to(CLI::App& verb) {
  add_state_file(verb, file);
  verb.add_option("TO", to, "the copy, which must not exist yet")->required();
}

void run_state_backup(const StateBackupArguments& arguments) {
  require_no_file(arguments.to);
  const auto file = open_state_to_read(arguments.file);
  const auto made = name_beside(arguments.to);
  try {
    file.back_up(made);
    require_no_file(arguments.to);
    move_into_place(made, arguments.to);
  } catch (...) {
    std::error_code ignored;
    std::filesystem::remove(made, ignored);
    throw;
  }
  fmt::print("{}: {} bytes\n", arguments.to, std::filesystem::file_size(arguments.to));
}

}  // namespace phsic
