#include "cli/verbs/score.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <utility>

#include "cli/table/pair_table.h"
#include "cli/table/table_writer.h"

namespace phsic {
namespace {

constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();

// Scores a table and writes it, line by line.
class ScoreRun {
 public:
  ScoreRun(const ScoreArguments& arguments, Session& stream)
      : arguments_(arguments),
        stream_(stream),
        names_(names_of(arguments)),
        table_(arguments.input, arguments.table, {},
               arguments.score_only ? std::vector<std::string>() : names_),
        writer_(arguments.output, {table_.table().format(), names_, arguments.score_only}) {
    if (arguments.output == "-" && isatty(STDOUT_FILENO) != 0) table_.hide_progress();
  }

  // Each pair is learned after it was scored, if `learn`; a text that is paired with itself only if
  // `learns_copies`.
  void run(bool learn, bool learns_copies) {
    if (learn && !learns_copies) table_.expect_two_texts();
    if (!table_.table().header().empty()) writer_.header(table_.table().header());
    while (table_.read(batch_, learn ? std::min(kBatchRows, stream_.until_refresh()) : kBatchRows,
                       arguments_.flush)) {
      scores_.resize(batch_.size());
      // Learning may bring a new model, of which these scores know nothing.
      if (!arguments_.with.empty()) calibration_ = stream_.calibration();
      if (learn) {
        stream_.score_then_learn(batch_.pairs(), scores_.data(), problems_);
      } else {
        stream_.score(batch_.pairs(), scores_.data(), problems_);
      }
      write();
      table_.report(batch_, problems_);
      if (arguments_.flush) writer_.flush();
    }
    writer_.finish();
    table_.finish();
  }

 private:
  static std::vector<std::string> names_of(const ScoreArguments& arguments) {
    std::vector<std::string> names = {arguments.score_name};
    for (const auto& name : arguments.with) {
      if (std::find(names.begin(), names.end(), name) != names.end()) {
        throw Error(fmt::format("found the new column {} twice, expected it once", name));
      }
      names.push_back(name);
    }
    return names;
  }

  // Every row in its place; those that are no sound pair get nan or are dropped.
  void write() {
    std::size_t pair = 0;
    for (std::size_t row = 0; row < batch_.rows.size(); ++row) {
      const bool is_pair = pair < batch_.size() && batch_.row_of[pair] == row;
      const double score = is_pair ? scores_[pair++] : kNoNumber;
      const auto policy = arguments_.table.bad_lines;
      if (std::isnan(score) && policy == BadLinePolicy::kFail) return;  // report() tells
      if (std::isnan(score) && policy == BadLinePolicy::kDrop) continue;
      values_.assign(1, score);
      for (const auto& name : arguments_.with) {
        values_.emplace_back(
            (name == "percentile" ? calibration_.percentile(score) : calibration_.p_value(score))
                .value_or(kNoNumber));
      }
      writer_.row(batch_.rows, row, values_);
    }
  }

  const ScoreArguments& arguments_;
  Session& stream_;
  std::vector<std::string> names_;
  PairTable table_;
  TableWriter writer_;
  PairBatch batch_;
  std::vector<double> scores_;
  std::vector<PairProblem> problems_;
  Calibration calibration_;  // of the model that gave the scores
  std::vector<Value> values_;
};

}  // namespace

void ScoreArguments::add_to(CLI::App& verb) {
  verb.add_option("INPUT", input, "table of pairs, - for standard input (default)");
  verb.add_option("--learn", learn, "learn from this table, then score INPUT without learning it")
      ->type_name("FILE");
  auto* twice =
      verb.add_flag("--two-pass", two_pass, "learn all of INPUT first, then score all of it");
  twice->excludes("--learn");
  verb.add_option("-o,--output", output, "where to write, - for standard output (default)")
      ->type_name("FILE");
  verb.add_flag("--score-only,--score_only", score_only, "write the scores alone, line for line");
  verb.add_option("--score-name", score_name, "name of the new column or member (default: score)")
      ->type_name("NAME");
  verb.add_option("--with", with,
                  "more columns: percentile (share of recent pairs that score lower), p-value "
                  "(chance that a random pairing scores as high)")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::IsMember({"percentile", "p-value"}))
      ->type_name("NAME,...");
  verb.add_flag("--flush", flush, "write each score as soon as its line is there, for live pipes");
  table.add_to(verb, TableUse::kReadAndWritten);
  model.add_to(verb);
  verb.footer(
      "Without --learn and --two-pass each pair is scored before it is learned.\n\n"
      "Examples:\n"
      "  phsic score crawl.tsv.gz > scored.tsv            score, then learn, pair by pair\n"
      "  phsic score --two-pass corpus.tsv | sort -t$'\\t' -k3,3gr | head -100000 | cut -f1,2\n"
      "  phsic score --learn clean.tsv --x 4 --y 5 crawl.tsv\n"
      "  tail -f chat.jsonl | phsic score --flush --half-life 50000");
}

void run_score(const ScoreArguments& arguments) {
  for (const auto& [what, file] :
       {std::pair("INPUT", arguments.input), std::pair("--learn", arguments.learn)}) {
    std::error_code ignored;
    const auto path = file == "-" ? "/dev/stdin" : file;
    if (arguments.output != "-" && std::filesystem::equivalent(path, arguments.output, ignored)) {
      throw Error(fmt::format("--output: found {}, the same file as {}, expected another",
                              arguments.output, what));
    }
  }
  require_two_inputs(arguments.learn, arguments.input);
  StreamSpec spec;
  const auto stream = arguments.model.open(arguments.table, &spec);
  if (arguments.two_pass) {
    std::error_code ignored;
    const bool is_pipe = std::filesystem::exists(arguments.input, ignored) &&
                         !std::filesystem::is_regular_file(arguments.input, ignored);
    if (arguments.input == "-" || is_pipe) {
      throw Error(fmt::format("--two-pass: found {}, expected a file that can be read twice",
                              arguments.input == "-" ? "standard input" : arguments.input));
    }
    learn_table(*stream, arguments.input, arguments.table, spec.learns_identical);
  } else if (!arguments.learn.empty()) {
    learn_table(*stream, arguments.learn, arguments.table, spec.learns_identical);
  }
  ScoreRun(arguments, *stream)
      .run(!arguments.two_pass && arguments.learn.empty(), spec.learns_identical);
  // A daemon's are of all its clients.
  const bool is_own = arguments.model.daemon.endpoint.empty();
  if (const auto clipped = is_own ? stream->facts().clipped : 0; clipped > 0) {
    fmt::print(stderr,
               "phsic: {} vector{} far longer than all others {} shortened before being learned\n",
               clipped, clipped == 1 ? "" : "s", clipped == 1 ? "was" : "were");
  }
}

}  // namespace phsic
