// The command `phsic`.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "cli/verbs/ask.h"
#include "cli/verbs/encoders.h"
#include "cli/verbs/eval.h"
#include "cli/verbs/explain.h"
#include "cli/verbs/filter.h"
#include "cli/verbs/learn.h"
#include "cli/verbs/rank.h"
#include "cli/verbs/save.h"
#include "cli/verbs/score.h"
#include "cli/verbs/send.h"
#include "cli/verbs/state.h"
#include "cli/verbs/state_move.h"
#include "cli/verbs/state_rebuild.h"
#include "cli/verbs/stats.h"
#include "cli/verbs/tail.h"
#include "cli/verbs/top.h"
#include "core/error.h"
#include "decide/decide_spec.h"
#include "wire/printable.h"

namespace {

// Documented in docs/command.md.
enum ExitCode { kDone = 0, kFailed = 1, kUsage = 2, kBadLine = 3, kUseless = 4 };

// Makes a verb of the arguments, which must live until it has run.
template <class Arguments>
CLI::App* add_verb(CLI::App& parent, const char* name, const char* about, Arguments& arguments,
                   void (*run)(const Arguments&)) {
  auto* verb = parent.add_subcommand(name, about);
  verb->callback([&arguments, run] { run(arguments); });
  arguments.add_to(*verb);
  return verb;
}

// Every verb with its arguments, which live as long as this.
class Verbs {
 public:
  explicit Verbs(CLI::App& app) {
    add_verb(app, "score", "Write each line of a table with its score", score_, phsic::run_score);
    add_verb(app, "filter", "Write the lines of a table that are worth keeping", filter_,
             phsic::run_filter);
    add_verb(app, "learn", "Make a model file of tables of pairs", learn_, phsic::run_learn);
    add_verb(app, "rank", "Order the candidates of each line", rank_, phsic::run_rank);
    auto* eval = app.add_subcommand("eval", "Measure how well scores do on labelled data");
    eval->require_subcommand(1);
    add_verb(*eval, "detect", "Tell damaged pairs from good ones", detect_, phsic::run_eval_detect);
    add_verb(*eval, "rank", "Tell the true candidate from others", eval_rank_,
             phsic::run_eval_rank);
    add_verb(*eval, "next", "Tell the next y of a stream from earlier ones", eval_next_,
             phsic::run_eval_next);
    add_verb(app, "encoders", "List the encoders that are installed", encoders_,
             phsic::run_encoders);
    add_verb(app, "send", "Stream a table into a daemon", send_, phsic::run_send);
    add_verb(app, "tail", "Follow a daemon's scores, flags and events", tail_, phsic::run_tail);
    add_verb(app, "top", "Watch how a daemon's streams do", top_, phsic::run_top);
    add_verb(app, "stats", "Print all that a daemon tells of itself", stats_, phsic::run_stats);
    add_verb(app, "explain", "Show which words and learned pairs made the score of a pair",
             explain_, phsic::run_explain);
    add_verb(app, "refresh", "Have a daemon build a new model", refresh_, phsic::run_refresh);
    add_verb(app, "snapshot", "Have a daemon write a snapshot of what it has learned", snapshot_,
             phsic::run_snapshot);
    add_verb(app, "save", "Make a model file of a daemon's stream", save_, phsic::run_save);
    add_verb(app, "streams", "List a daemon's streams with their options", streams_,
             phsic::run_streams);
    add_verb(app, "ping", "Ask whether a daemon is there", ping_, phsic::run_ping);
    add_state_verbs(app);
  }

 private:
  void add_state_verbs(CLI::App& app) {
    auto* state = app.add_subcommand("state", "Look after what a daemon keeps on the disk");
    state->require_subcommand(1);
    add_verb(*state, "info", "Tell what is in a state file", state_info_, phsic::run_state_info);
    add_verb(*state, "verify", "Check a state file in every part", state_verify_,
             phsic::run_state_verify);
    add_verb(*state, "backup", "Copy a state file, also while a daemon writes to it", state_backup_,
             phsic::run_state_backup);
    add_verb(*state, "export", "Write one stream to a portable file", state_export_,
             phsic::run_state_export);
    add_verb(*state, "import", "Take the stream of a portable file into a state file",
             state_import_, phsic::run_state_import);
    add_verb(*state, "merge", "Make one stream of those of several portable files", state_merge_,
             phsic::run_state_merge);
    add_verb(*state, "rebuild", "Learn the pairs of a stream again, into a new state file",
             state_rebuild_, phsic::run_state_rebuild);
  }

  phsic::ScoreArguments score_;
  phsic::FilterArguments filter_;
  phsic::LearnArguments learn_;
  phsic::RankArguments rank_;
  phsic::DetectArguments detect_;
  phsic::EvalRankArguments eval_rank_;
  phsic::EvalNextArguments eval_next_;
  phsic::EncodersArguments encoders_;
  phsic::SendArguments send_;
  phsic::TailArguments tail_;
  phsic::TopArguments top_;
  phsic::StatsArguments stats_;
  phsic::ExplainArguments explain_;
  phsic::RefreshArguments refresh_;
  phsic::SnapshotArguments snapshot_;
  phsic::SaveArguments save_;
  phsic::AskArguments streams_;
  phsic::AskArguments ping_;
  phsic::StateInfoArguments state_info_;
  phsic::StateVerifyArguments state_verify_;
  phsic::StateBackupArguments state_backup_;
  phsic::StateExportArguments state_export_;
  phsic::StateImportArguments state_import_;
  phsic::StateMergeArguments state_merge_;
  phsic::StateRebuildArguments state_rebuild_;
};

// Says of flags of earlier versions what to write instead.
void advise(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    std::string_view flag = argv[i];
    if (!flag.starts_with("--")) continue;
    flag = flag.substr(0, flag.find('='));
    const auto advice = phsic::advice_for(flag.substr(2));
    if (!advice.empty()) fmt::print(stderr, "phsic: {}: {}\n", flag, advice);
  }
}

int run(int argc, char** argv) {
  CLI::App app("How well two texts belong together, judged by all pairs seen so far.", "phsic");
  app.set_version_flag("--version", "phsic " PHSIC_VERSION);
  app.require_subcommand(1);
  app.failure_message(CLI::FailureMessage::simple);
  app.footer(
      "`phsic VERB --help` tells more. Exit status: 0 done, 1 failed, 2 wrong usage, 3 a bad "
      "line under --bad-lines fail, 4 nearly no line could be used.");
  const Verbs verbs(app);

  const std::string_view first = argc > 1 ? argv[1] : "-";
  std::vector<std::string> names;
  for (const auto* verb : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(verb->get_name());
  }
  if (!first.starts_with('-') && std::find(names.begin(), names.end(), first) == names.end()) {
    fmt::print(stderr, "phsic: there is no verb {}, expected one of {}\n", first,
               fmt::join(names, ", "));
    return kUsage;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& problem) {
    if (app.exit(problem) == 0) return kDone;
    advise(argc, argv);
    return kUsage;
  }
  if (std::fflush(stdout) != 0) throw phsic::Error("standard output cannot be written");
  return kDone;
}

// A message may hold what a file or a daemon said. If it cannot be written, the status tells.
void complain(const std::exception& problem) {
  std::fputs(fmt::format("phsic: {}\n", phsic::printable_lines(problem.what())).c_str(), stderr);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const phsic::BadLineError& problem) {
    complain(problem);
    return kBadLine;
  } catch (const phsic::UselessTableError& problem) {
    complain(problem);
    return kUseless;
  } catch (const std::exception& problem) {
    complain(problem);
    return kFailed;
  }
}
