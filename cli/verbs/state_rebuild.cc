#include "cli/verbs/state_rebuild.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <vector>

#include "cli/model_file.h"
#include "cli/table/pair_table.h"
#include "cli/verbs/state.h"
#include "core/error.h"
#include "state/rebuild.h"
#include "state/stream_copy.h"
#include "state/whole_file.h"
#include "wire/printable.h"

namespace phsic {
namespace {

// Changes options by what a file says. The file of one stream's options changes what it names; a
// daemon's configuration says all of it.
void change_options(StoredOptions& options, const std::string& file, const std::string& stream) {
  const auto said = read_model_file(file, stream);
  if (said.is_of_daemon) {
    std::erase_if(options, [](const auto& option) {
      return order_of(option.first) < stream_options().size();
    });
  }
  override_options(options, said.options);
}

// What the stream has, then the file, then the flags.
StoredOptions options_of(const StateRebuildArguments& arguments, const StreamRecord& record,
                         StoredOptions options) {
  if (!arguments.model.config.empty()) {
    change_options(options, arguments.model.config, record.name);
  }
  override_options(options, arguments.model.chosen);
  return options;
}

// Encoders that the user names may be any.
void require_trust(const StateRebuildArguments& arguments, const StreamRecord& record,
                   const StreamSpec& spec) {
  if (arguments.trust) return;
  const auto chosen = spec_of(options_of(arguments, record, {})).encoders();
  auto others = spec.encoders();
  std::erase_if(others, [&](const auto& encoder) {
    return std::find(chosen.begin(), chosen.end(), encoder) != chosen.end();
  });
  require_names(others, arguments.file);
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
  add_trust(verb, trust);
  table.add_to(verb, TableUse::kRead);
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
  options.options = options_of(arguments, record, parse_options(record.options));
  options.keeps_journal = arguments.keep_journal;
  options.decisions_of = remember_decisions;
  const bool has_times = arguments.from.empty() || !arguments.table.time.empty();
  const auto spec = spec_of(options.options);
  if (spec.forgetting.by_seconds() && !has_times) {
    throw Error("half-life and window: found seconds but no times, expected --time COL");
  }
  require_trust(arguments, record, spec);
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
