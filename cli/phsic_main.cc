// The command `phsic`.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <string_view>

#include "cli/encoders.h"
#include "cli/eval.h"
#include "cli/rank.h"
#include "cli/score.h"
#include "core/error.h"

namespace {

// Documented in docs/command.md.
enum ExitCode { kDone = 0, kFailed = 1, kUsage = 2, kBadLine = 3 };

// Makes a verb of the arguments, which must live until it has run.
template <class Arguments>
CLI::App* add_verb(CLI::App& parent, const char* name, const char* about, Arguments& arguments,
                   void (*run)(const Arguments&)) {
  auto* verb = parent.add_subcommand(name, about);
  verb->callback([&arguments, run] { run(arguments); });
  arguments.add_to(*verb);
  return verb;
}

int run(int argc, char** argv) {
  CLI::App app("How well two texts belong together, judged by all pairs seen so far.", "phsic");
  app.set_version_flag("--version", "phsic " PHSIC_VERSION);
  app.require_subcommand(1);
  app.failure_message(CLI::FailureMessage::simple);
  app.footer(
      "`phsic VERB --help` tells more. Exit status: 0 done, 1 failed, 2 wrong usage, 3 a bad "
      "line under --bad-lines fail.");

  phsic::ScoreArguments score;
  phsic::RankArguments rank;
  phsic::DetectArguments detect;
  phsic::EvalRankArguments eval_rank;
  phsic::EvalNextArguments eval_next;
  phsic::EncodersArguments encoders;
  add_verb(app, "score", "Write each line of a table with its score", score, phsic::run_score);
  add_verb(app, "rank", "Order the candidates of each line", rank, phsic::run_rank);
  auto* eval = app.add_subcommand("eval", "Measure how well scores do on labelled data");
  eval->require_subcommand(1);
  add_verb(*eval, "detect", "Tell damaged pairs from good ones", detect, phsic::run_eval_detect);
  add_verb(*eval, "rank", "Tell the true candidate from others", eval_rank, phsic::run_eval_rank);
  add_verb(*eval, "next", "Tell the next y of a stream from earlier ones", eval_next,
           phsic::run_eval_next);
  add_verb(app, "encoders", "List the encoders that are installed", encoders, phsic::run_encoders);

  const std::string_view first = argc > 1 ? argv[1] : "-";
  const auto verbs = app.get_subcommands([](const CLI::App*) { return true; });
  const auto is_named = [&](const CLI::App* verb) { return verb->get_name() == first; };
  if (!first.starts_with('-') && std::none_of(verbs.begin(), verbs.end(), is_named)) {
    fmt::print(stderr, "phsic: there is no verb {}, expected score, rank, eval or encoders\n",
               first);
    return kUsage;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& problem) {
    return app.exit(problem) == 0 ? kDone : kUsage;
  }
  if (std::fflush(stdout) != 0) throw phsic::Error("standard output cannot be written");
  return kDone;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const phsic::BadLineError& problem) {
    fmt::print(stderr, "phsic: {}\n", problem.what());
    return kBadLine;
  } catch (const std::exception& problem) {
    fmt::print(stderr, "phsic: {}\n", problem.what());
    return kFailed;
  }
}
