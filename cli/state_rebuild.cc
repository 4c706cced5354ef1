#include "cli/state_rebuild.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <string_view>
#include <vector>

#include "cli/pair_table.h"
#include "cli/text.h"
#include "cli/state.h"
#include "core/error.h"
#include "engine/stream_yaml.h"
#include "state/rebuild.h"
#include "state/stream_copy.h"
#include "state/whole_file.h"

namespace phsic {
namespace {

const YamlEntry* find_entry(const YamlNode& mapping, std::string_view key) {
  for (const auto& entry : mapping.entries) {
    if (entry.key == key) return &entry;
  }
  return nullptr;
}

// The options of a mapping that say what a stream is.
StoredOptions options_in(const YamlNode& mapping, const std::string& file,
                         std::vector<std::string>& problems) {
  StoredOptions options;
  for (const auto& entry : mapping.entries) {
    if (order_of(entry.key) == stream_options().size()) continue;
    try {
      const auto notation = notation_of(entry.value);
      StreamSpec().set(entry.key, notation);
      options.emplace_back(entry.key, notation);
    } catch (const Error& problem) {
      problems.push_back(fmt::format("{}:{}: {}", file, entry.line, problem.what()));
    }
  }
  return options;
}

StoredOptions read_daemon_options(const YamlNode& root, const std::string& file,
                                  const std::string& stream) {
  const auto* own = find_entry(find_entry(root, "streams")->value, stream);
  if (own == nullptr) {
    throw Error(fmt::format("{}: found no streams.{}, expected the stream that is to be rebuilt",
                            file, stream));
  }
  std::vector<std::string> problems;
  StoredOptions options;
  if (const auto* defaults = find_entry(root, "defaults")) {
    options = options_in(defaults->value, file, problems);
  }
  override_options(options, options_in(own->value, file, problems));
  if (!problems.empty()) throw Error(fmt::format("{}", fmt::join(problems, "\n")));
  return options;
}

// What the stream has, then the file, then the flags.
StoredOptions options_of(const StateRebuildArguments& arguments, const StreamRecord& record) {
  auto options = parse_options(record.options);
  if (!arguments.model.config.empty()) {
    change_options(options, arguments.model.config, record.name);
  }
  override_options(options, arguments.model.chosen);
  return options;
}

void learn_table(Rebuild& rebuild, const StateRebuildArguments& arguments, bool learns_copies) {
  PairTable table(arguments.from, arguments.table);
  if (!learns_copies) table.expect_two_texts();
  PairBatch batch;
  std::vector<PairProblem> problems;
  while (table.read(batch, kBatchRows)) {
    rebuild.learn(batch.pairs(), problems);
    table.report(batch, problems);
  }
  table.finish();
}

}  // namespace

void change_options(StoredOptions& options, const std::string& file, const std::string& stream) {
  const auto root = read_yaml(file);
  if (find_entry(root, "streams") == nullptr) {
    StreamSpec ignored;
    override_options(options, read_stream_yaml(file, ignored));
    return;
  }
  const auto said = read_daemon_options(root, file, stream);
  std::erase_if(
      options, [](const auto& option) { return order_of(option.first) < stream_options().size(); });
  override_options(options, said);
}

void StateRebuildArguments::add_to(CLI::App& verb) {
  add_state_file(verb, file);
  verb.add_option("--stream", stream, "which stream of the file (default: its only one)")
      ->type_name("NAME");
  verb.add_option("--from", from, "learn this table instead of the journal")->type_name("TABLE");
  verb.add_option("-o,--output", output, "the new state file, which must not exist yet")
      ->type_name("NEW")
      ->required();
  verb.add_flag("--keep-journal", keep_journal,
                "give the new file a journal, too, from the first pair on");
  table.add_to(verb);
  model.add_options_to(verb);
  verb.footer(
      "Options that are not given are those that the stream has. --config may be a daemon's "
      "configuration, too.\n\n"
      "Examples:\n"
      "  phsic state rebuild phsicd.db --encoder hashing:dim=4096 -o new.db\n"
      "  phsic state rebuild phsicd.db --stream chat --from chat.tsv --config phsicd.yaml -o "
      "new.db");
}

void run_state_rebuild(const StateRebuildArguments& arguments) {
  require_no_file(arguments.output);
  const auto file = open_state_to_read(arguments.file);
  const auto record = find_stream(file, arguments.stream);
  Rebuild::Options options;
  options.to = arguments.output;
  options.stream = record.name;
  options.options = options_of(arguments, record);
  options.keeps_journal = arguments.keep_journal;
  const bool has_times = arguments.from.empty() || !arguments.table.time.empty();
  const auto spec = spec_of(options.options);
  if (spec.forgetting.by_seconds() && !has_times) {
    throw Error("half-life and window: found seconds but no times, expected --time COL");
  }
  const auto& folders = arguments.model.encoder_path;
  Rebuild rebuild(options, EncoderPath({folders.begin(), folders.end()}));
  if (arguments.from.empty()) {
    rebuild.learn_journal(file, record);
  } else {
    learn_table(rebuild, arguments, spec.learns_identical);
  }
  rebuild.finish();
  fmt::print("{}: stream {}, {} pairs{}\n", arguments.output, printable(record.name),
             rebuild.stream().pairs(), rebuild.was_replayed() ? ", as they were learned" : "");
  if (rebuild.left_out() > 0) {
    fmt::print(stderr, "phsic: {} pairs could not be learned or were a text with itself\n",
               rebuild.left_out());
  }
}

}  // namespace phsic
