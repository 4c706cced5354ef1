#include "cli/verbs/learn.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <utility>

#include "cli/client/same_options.h"
#include "cli/session/describe_damage.h"
#include "cli/session/describe_views.h"
#include "cli/session/saved_model.h"
#include "cli/table/pair_table.h"
#include "cli/table/pair_writer.h"
#include "core/error.h"
#include "decide/memory_replay.h"
#include "state/whole_file.h"
#include "wire/printable.h"

namespace phsic {
namespace {

// A name for the stream that the file's name suggests.
std::string name_for(const LearnArguments& arguments) {
  if (!arguments.name.empty()) return arguments.name;
  const auto stem = std::filesystem::path(arguments.output).stem().string();
  return is_stream_name(stem) ? stem : "default";
}

using FileTime = std::filesystem::file_time_type;

// When the file was written; none if there is no such file.
FileTime time_of(const std::string& file) {
  std::error_code ignored;
  return std::filesystem::last_write_time(file, ignored);
}

SavedModel new_model(const LearnArguments& arguments) {
  const auto wanted = arguments.model.wanted();
  SavedModel model;
  model.copy.name = name_for(arguments);
  require_stream_name(model.copy.name);
  model.copy.options = general_first(wanted.options);
  model.copy.stream = Stream::open(wanted.stream, arguments.model.path());
  model.decide_options = wanted.decisions;
  // What does not go together is told before anything is learned.
  static_cast<void>(plan_of(wanted.decide, wanted.stream));
  return model;
}

SavedModel old_model(const LearnArguments& arguments) {
  auto model = read_model(arguments.output, arguments.model.path(),
                          arguments.model.trust ? Trust::kPathsToo : Trust::kNamesOnly);
  const auto wanted = arguments.model.wanted();
  RemoteStream has{model.copy.name, model.copy.options, 0, 0};
  auto asked = wanted.options;
  has.options.insert(has.options.end(), model.decide_options.begin(), model.decide_options.end());
  asked.insert(asked.end(), wanted.decisions.begin(), wanted.decisions.end());
  require_same_options(asked, has, arguments.output);
  if (!arguments.name.empty()) {
    require_stream_name(arguments.name);
    model.copy.name = arguments.name;
  }
  return model;
}

// What is learned one after the other: tables of one file, or two files together.
std::vector<std::vector<std::string>> tables_of(const LearnArguments& arguments) {
  if (arguments.aligned) return {arguments.corpora};
  std::vector<std::vector<std::string>> tables;
  for (const auto& corpus : arguments.corpora) tables.push_back({corpus});
  return tables;
}

void learn_corpora(const LearnArguments& arguments, LocalSession& session, bool learns_copies) {
  for (const auto& files : tables_of(arguments)) {
    PairTable table(files, arguments.table);
    if (!learns_copies) table.expect_two_texts(false);
    learn_rows(session, table);
    table.finish();
  }
  if (session.facts().pairs == 0) {
    const auto& corpora = arguments.corpora;
    throw Error(
        fmt::format("{}: found no pair to learn from, expected at least one that no rule "
                    "rejects",
                    corpora.front() == "-" ? "standard input" : corpora.front()));
  }
  session.finish();
}

void check_files(const LearnArguments& arguments) {
  if (arguments.aligned && arguments.corpora.size() != 2) {
    throw CLI::ValidationError(
        "--aligned",
        fmt::format("found {} file{}, expected two, of which line k and "
                    "line k are a pair",
                    arguments.corpora.size(), arguments.corpora.size() == 1 ? "" : "s"));
  }
  if (std::count(arguments.corpora.begin(), arguments.corpora.end(), "-") > 1) {
    throw Error("found standard input twice, expected it once");
  }
  auto inputs = arguments.corpora;
  inputs.push_back(arguments.model.config);
  require_other_files("--output", {arguments.output}, inputs);
}

void check_times(const LearnArguments& arguments, const StreamSpec& spec) {
  if (spec.forgetting.by_seconds() && arguments.table.time.empty()) {
    throw Error("half-life and window: found seconds but no times, expected --time COL");
  }
}

// What came of it, for a reader.
std::string describe_learned(const LocalSession& session) {
  const auto& counts = session.memory().counts();
  auto text = fmt::format("{} pairs, {} not learned\n", session.stream().pairs(), counts.rejected);
  for (const auto& [reason, count] : counts.reasons) {
    if (is_rejection(reason)) text += fmt::format("  {:>10}  {}\n", count, name_of_reason(reason));
  }
  if (const auto facts = session.facts(); facts.accuracy) {
    text += fmt::format("  self-AUC {:.4f}\n", facts.accuracy->auc);
    if (!facts.views.empty()) text += fmt::format("  views {}\n", describe_views(facts.views));
    if (facts.damage) text += fmt::format("  {}\n", describe_damage(*facts.damage));
  }
  return text;
}

}  // namespace

void LearnArguments::add_to(CLI::App& verb) {
  verb.add_option("CORPUS", corpora, "tables of pairs, - for standard input (default)");
  verb.add_option("-o,--output", output, "the model file to write")
      ->type_name("FILE")
      ->required()
      ->expected(1);
  verb.add_flag("--aligned", aligned, "CORPUS is two files, of which line k and line k are a pair");
  verb.add_flag("--update", update, "go on learning with the model file that is there");
  verb.add_flag("--force", force, "replace a file of that name")->excludes("--update");
  verb.add_option("--name", name, "of the stream (default: the file's, without its ending)")
      ->type_name("NAME");
  verb.add_flag("--trust", model.trust,
                "with --update: load encoders that the file names by a path")
      ->needs("--update");
  table.add_to(verb, TableUse::kRead);
  model.add_options_to(verb);
  model.add_decisions_to(verb);
  model.add_threads_to(verb);
  verb.footer(
      "The file has what was learned, its model, and the cut that --keep, --p, --fdr, --percentile "
      "or --score\nasks for. The same pairs give the same file.\n\n"
      "Examples:\n"
      "  phsic learn corpus.tsv.gz -o m.phsic --p 0.01\n"
      "  phsic learn more.tsv.gz -o m.phsic --update\n"
      "  phsic learn --aligned corpus.en corpus.fr -o m.phsic\n"
      "  phsic filter --model m.phsic block.tsv > kept.tsv");
}

void run_learn(const LearnArguments& arguments) {
  check_files(arguments);
  const auto before = arguments.update ? time_of(arguments.output) : FileTime();
  if (!arguments.update && !arguments.force) require_no_file(arguments.output, ", or --force");
  auto model = arguments.update ? old_model(arguments) : new_model(arguments);
  const auto spec = spec_of(model.copy.options);
  check_times(arguments, spec);
  const auto session =
      open_session(model, decide_spec_of(model.decide_options), arguments.model.thread_count());
  session->keep_texts();
  session->set_own_share(false);
  session->will_judge_learned();
  learn_corpora(arguments, *session, spec.learns_identical);
  model.learned = session->learned_pairs();
  model.copy.serving.parts[kDecidePart] = session->memory().save();
  const auto told = describe_learned(*session);
  const auto blind = session->blind_views();
  model.copy.stream = session->release();
  if (arguments.update && time_of(arguments.output) != before) {
    throw Error(fmt::format("{}: found it changed meanwhile, expected one update at a time",
                            printable(arguments.output)));
  }
  const auto bytes = write_model(arguments.output, model);
  fmt::print("{}: {} bytes, {}", printable(arguments.output), bytes, told);
  std::fputs(blind.c_str(), stderr);
}

}  // namespace phsic
