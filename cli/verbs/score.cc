#include "cli/verbs/score.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "cli/table/pair_writer.h"
#include "cli/verbs/decision_columns.h"

namespace phsic {
namespace {

constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();

// What a new column says of a row; `pair` may be TablePass::kNoPair.
Value column_of(const std::string& name, const PairResults& results, std::size_t pair,
                TableFormat format) {
  const bool is_pair = pair != TablePass::kNoPair;
  if (name == "percentile") return is_pair ? results.percentiles[pair] : kNoNumber;
  if (name == "p-value") return is_pair ? results.p_values[pair] : kNoNumber;
  const auto decision = is_pair ? results.decisions[pair] : kBadLineDecision;
  if (name == "quality") return is_pair ? quality_of(decision, results.qualities[pair]) : kNoNumber;
  if (name == "decision") return name_of(decision.verdict);
  return reason_value(decision.reason, format);
}

// Scores a table and writes it, line by line.
class ScoreRun {
 public:
  explicit ScoreRun(const ScoreArguments& arguments)
      : arguments_(arguments),
        names_(names_of(arguments)),
        pass_(arguments.pass, TablePass::Rejects::kAreUseless, added_by(arguments)),
        layout_(pass_.layout()),
        writer_("--output", {arguments.output}, layout_, names_, arguments.score_only) {
    if (arguments.output == "-" && isatty(STDOUT_FILENO) != 0) pass_.hide_progress();
  }

  void run() {
    writer_.header();
    try {
      score_all();
    } catch (const BadLineError&) {
      // The lines before it are a whole output, also where it is compressed.
      writer_.finish();
      throw;
    }
    writer_.finish();
    pass_.finish();
  }

  [[nodiscard]] const Session& session() const { return pass_.session(); }

 private:
  static std::vector<std::string> names_of(const ScoreArguments& arguments) {
    std::vector<std::string> names;
    auto wanted = arguments.with;
    wanted.push_back(arguments.score_name);
    for (const auto& name : wanted) {
      if (std::find(names.begin(), names.end(), name) != names.end()) {
        throw Error(fmt::format("found the new column {} twice, expected it once", name));
      }
      names.push_back(name);
    }
    return names;
  }

  // What a table must not have already.
  static std::vector<AddedColumn> added_by(const ScoreArguments& arguments) {
    std::vector<AddedColumn> added;
    if (arguments.score_only) return added;
    for (const auto& name : arguments.with) added.push_back({name, "leave it out of --with"});
    added.push_back({arguments.score_name, "give the new one another name with --score-name NAME"});
    return added;
  }

  void require_decisions() const {
    const auto& with = arguments_.with;
    const bool wants = std::find(with.begin(), with.end(), "decision") != with.end() ||
                       std::find(with.begin(), with.end(), "reason") != with.end();
    if (wants) pass_.require_decisions();
  }

  void score_all() {
    while (pass_.next()) {
      require_decisions();
      write();
      pass_.report();
      if (arguments_.pass.flush) writer_.flush();
    }
  }

  // Every row in its place; those that are no sound pair get nan or are dropped.
  void write() {
    const auto& results = pass_.results();
    for (std::size_t row = 0; row < pass_.batch().rows.size(); ++row) {
      const auto pair = pass_.pair_of()[row];
      const bool is_pair = pair != TablePass::kNoPair;
      const double score = is_pair ? results.scores[pair] : kNoNumber;
      if (is_pair && pass_.ends_at(pair)) return;  // report() tells
      if (std::isnan(score) && arguments_.pass.table.bad_lines == BadLinePolicy::kDrop) continue;
      values_.clear();
      for (const auto& name : arguments_.with) {
        values_.push_back(column_of(name, results, pair, layout_.format));
      }
      values_.emplace_back(score);
      writer_.row(pass_.batch().rows, row, values_);
    }
  }

  const ScoreArguments& arguments_;
  std::vector<std::string> names_;
  TablePass pass_;
  PairLayout layout_;
  PairWriter writer_;
  std::vector<Value> values_;
};

}  // namespace

void ScoreArguments::add_to(CLI::App& verb) {
  verb.add_option("INPUT", pass.inputs, "table of pairs, - for standard input (default)")
      ->expected(1);
  verb.add_option("-o,--output", output, "where to write, - for standard output (default)")
      ->type_name("FILE");
  verb.add_flag("--score-only,--score_only", score_only, "write the scores alone, line for line");
  verb.add_option("--score-name", score_name, "name of the new column or member (default: score)")
      ->type_name("NAME");
  verb.add_option("--with", with,
                  "more columns, before the score: quality (how likely the pair is good), "
                  "percentile (share of recent pairs that score "
                  "lower), p-value (chance that a random pairing scores as high), decision (keep, "
                  "drop, undecided), reason")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::IsMember({"quality", "percentile", "p-value", "decision", "reason"}))
      ->type_name("NAME,...");
  pass.add_to(verb);
  verb.footer(
      "Without --learn, --two-pass and --model each pair is scored before it is learned.\n\n"
      "Examples:\n"
      "  phsic score crawl.tsv.gz > scored.tsv            score, then learn, pair by pair\n"
      "  phsic score --two-pass --with percentile corpus.tsv | awk -F'\\t' '$3 > 0.3'\n"
      "  phsic score --learn clean.tsv --x 4 --y 5 crawl.tsv\n"
      "  tail -f chat.jsonl | phsic score --flush --half-life 50000");
}

void run_score(const ScoreArguments& arguments) {
  require_other_files("--output", {arguments.output}, arguments.pass.files());
  ScoreRun score(arguments);
  score.run();
  // A daemon counts the clipped vectors of all its clients, and a model file those of earlier runs.
  const auto& model = arguments.pass.model;
  const bool is_own = model.daemon.endpoint.empty() && !model.is_fixed();
  if (const auto clipped = is_own ? score.session().facts().clipped : 0; clipped > 0) {
    fmt::print(stderr,
               "phsic: {} vector{} far longer than all others {} shortened before being learned\n",
               clipped, clipped == 1 ? "" : "s", clipped == 1 ? "was" : "were");
  }
}

}  // namespace phsic
