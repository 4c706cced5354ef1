#include "cli/verbs/filter.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string_view>

#include "cli/table/pair_writer.h"
#include "cli/verbs/decision_columns.h"
#include "cli/verbs/filter_stats.h"
#include "core/error.h"
#include "wire/printable.h"

namespace phsic {
namespace {

// One number between 0 and 1 for each line: 0 where nothing has to be asked, nan where nobody can
// tell.
double number_of(const Decision& decision, double number) {
  if (is_rejection(decision.reason)) return 0;
  return decision.verdict == Verdict::kUndecided ? PairResults::kNone : number;
}

// Judges a table and writes what is kept, or every line with what was decided.
class FilterRun {
 public:
  explicit FilterRun(const FilterArguments& arguments)
      : arguments_(arguments),
        names_(names_of(arguments)),
        pass_(arguments.pass, TablePass::Rejects::kAreFine, added_by(arguments)),
        layout_(pass_.layout()),
        writer_("--output", arguments.outputs, layout_, names_, arguments.score_only) {
    if (!arguments.rejected.empty()) {
      rejected_ = std::make_unique<PairWriter>("--rejected", arguments.rejected, layout_,
                                               std::vector{arguments.reason_name});
    }
    if (!arguments.stats.empty()) stats_file_ = std::make_unique<ByteSink>(arguments.stats);
    const auto& outputs = arguments.outputs;
    if (outputs.front() == "-" && isatty(STDOUT_FILENO) != 0) pass_.hide_progress();
  }

  void run() {
    writer_.header();
    if (rejected_) rejected_->header();
    try {
      judge_all();
    } catch (const BadLineError&) {
      // The lines before it are a whole output, also where it is compressed.
      finish();
      throw;
    }
    finish();
    try {
      pass_.finish();
    } catch (const UselessTableError& problem) {
      // With a model file this may be one block of many, which its own lines alone say nothing of.
      if (arguments_.pass.model.model.empty()) {
        tell();
        throw;
      }
      std::fputs(fmt::format("phsic: {}\n", printable_lines(problem.what())).c_str(), stderr);
    }
    tell();
  }

 private:
  static std::vector<std::string> names_of(const FilterArguments& arguments) {
    if (arguments.score_only) return {"percentile"};
    if (arguments.annotate) return {arguments.decision_name, arguments.reason_name};
    return {};
  }

  // What a table must not have already.
  static std::vector<AddedColumn> added_by(const FilterArguments& arguments) {
    const AddedColumn reason{arguments.reason_name,
                             "give the new one another name with --reason-name NAME"};
    if (!arguments.rejected.empty()) return {reason};
    if (!arguments.annotate) return {};
    return {{arguments.decision_name, "give the new one another name with --decision-name NAME"},
            reason};
  }

  void judge_all() {
    while (pass_.next()) {
      pass_.require_decisions();
      write();
      pass_.report();
      if (arguments_.pass.flush) flush();
    }
  }

  void finish() {
    writer_.finish();
    if (rejected_) rejected_->finish();
  }

  void write() {
    const auto& rows = pass_.batch().rows;
    const auto& results = pass_.results();
    for (std::size_t row = 0; row < rows.size(); ++row) {
      const auto pair = pass_.pair_of()[row];
      const bool is_pair = pair != TablePass::kNoPair;
      if (is_pair && pass_.ends_at(pair)) return;  // report() tells
      const auto decision = is_pair ? results.decisions[pair] : kBadLineDecision;
      const bool is_kept = keeps(decision);
      stats_.add(decision, is_kept, is_pair ? results.p_values[pair] : PairResults::kNone);
      const bool is_by_quality = pass_.session().plan().cut.kind == CutSpec::Kind::kQuality;
      const auto& numbers = is_by_quality ? results.qualities : results.percentiles;
      write_row(row, decision, is_pair ? numbers[pair] : PairResults::kNone, is_kept);
    }
  }

  void write_row(std::size_t row, const Decision& decision, double number, bool is_kept) {
    const auto& rows = pass_.batch().rows;
    values_.clear();
    if (arguments_.score_only) {
      values_.emplace_back(number_of(decision, number));
    } else if (arguments_.annotate) {
      values_.emplace_back(name_of(decision.verdict));
      values_.push_back(reason_value(decision.reason, layout_.format));
    }
    if (is_kept || !values_.empty()) {
      writer_.row(rows, row, values_);
    } else if (rejected_) {
      values_.push_back(reason_value(decision.reason, layout_.format));
      rejected_->row(rows, row, values_);
    }
  }

  [[nodiscard]] bool keeps(const Decision& decision) const {
    if (decision.verdict != Verdict::kUndecided) return decision.verdict == Verdict::kKeep;
    return pass_.session().plan().keeps_undecided;
  }

  void flush() {
    writer_.flush();
    if (rejected_) rejected_->flush();
  }

  void tell() {
    auto facts = FilterStats::facts_of(pass_.session());
    const auto& model = arguments_.pass.model;
    facts.teaches_daemon = !model.daemon.endpoint.empty() && !model.no_learn;
    if (stats_file_) {
      stats_file_->write(stats_.json(facts));
      stats_file_->finish();
    }
    // What was filtered is whole, whether or not anybody can be told.
    std::fputs(stats_.summary(facts).c_str(), stderr);
    if (isatty(STDERR_FILENO) != 0) std::fputs(stats_.histogram().c_str(), stderr);
  }

  const FilterArguments& arguments_;
  std::vector<std::string> names_;
  TablePass pass_;
  PairLayout layout_;
  PairWriter writer_;
  std::unique_ptr<PairWriter> rejected_;
  std::unique_ptr<ByteSink> stats_file_;
  FilterStats stats_;
  std::vector<Value> values_;
};

// An option that takes several files would take an INPUT that follows it, too.
void require_one(std::string_view option, const std::vector<std::string>& files) {
  if (files.size() <= 1) return;
  throw CLI::ValidationError(std::string(option),
                             fmt::format("found {} files for one table, expected one; INPUT stands "
                                         "before {}",
                                         files.size(), option));
}

void check(const FilterArguments& arguments) {
  if (arguments.pass.inputs.size() == 1) {
    require_one("--output", arguments.outputs);
    require_one("--rejected", arguments.rejected);
  }
  const bool writes_all = arguments.annotate || arguments.score_only;
  if (writes_all && arguments.pass.table.bad_lines == BadLinePolicy::kDrop) {
    throw CLI::ValidationError("--bad-lines drop",
                               "expected skip or fail, since --annotate and --score-only write one "
                               "line for each line");
  }
  if (arguments.annotate && arguments.decision_name == arguments.reason_name) {
    throw Error(fmt::format("--decision-name and --reason-name: found {} twice, expected two names",
                            arguments.reason_name));
  }
  const auto inputs = arguments.pass.files();
  require_other_files("--output", arguments.outputs, inputs);
  require_other_files("--rejected", arguments.rejected, inputs);
  require_other_files("--stats", {arguments.stats}, inputs);
  auto written = arguments.outputs;
  written.insert(written.end(), arguments.rejected.begin(), arguments.rejected.end());
  written.push_back(arguments.stats);
  require_distinct("--output, --rejected and --stats", written);
}

}  // namespace

void FilterArguments::add_to(CLI::App& verb) {
  verb.add_option("INPUT", pass.inputs,
                  "table of pairs, - for standard input (default), or two files: line k of the one "
                  "and line k of the other are a pair")
      ->expected(1, 2);
  verb.add_option("-o,--output", outputs,
                  "where kept pairs go, - for standard output (default); two files for two; .gz, "
                  ".bz2, .xz and .zst are compressed. INPUT stands before it")
      ->type_name("FILE")
      ->expected(1, 3);
  verb.add_option("--rejected", rejected,
                  "where all others go, with the reason; for two files one table, two files, or "
                  "two files and one of reasons")
      ->type_name("FILE")
      ->expected(1, 3);
  verb.add_flag("--annotate", annotate,
                "write every line, with its decision (keep, drop, undecided) and the reason")
      ->excludes("--rejected");
  verb.add_option("--decision-name", decision_name,
                  "name of the new column or member (default: decision)")
      ->type_name("NAME")
      ->needs("--annotate");
  verb.add_option("--reason-name", reason_name, "the same of the reason (default: reason)")
      ->type_name("NAME");
  verb.add_flag(
          "--score-only,--score_only", score_only,
          "write one number for each line: the percentile, or the quality where that is what "
          "the cut goes by; 0 for what a rule or a duplicate rejects, nan for what nobody can "
          "judge")
      ->excludes("--rejected")
      ->excludes("--annotate");
  verb.add_option("--stats", stats, "write what was kept and rejected, and why, to this JSON file")
      ->type_name("FILE");
  pass.add_to(verb);
  verb.footer(
      "Without --learn, --two-pass and --model each pair is judged before it is learned.\n\n"
      "Examples:\n"
      "  phsic filter crawl.tsv.gz -o kept.tsv.zst --rejected rejected.tsv.zst\n"
      "  phsic filter --two-pass --fdr 0.05 corpus.en corpus.fr -o kept.en kept.fr\n"
      "  parallel --pipe -k --block 20M phsic filter --model m.phsic < corpus.tsv > kept.tsv");
}

void run_filter(const FilterArguments& arguments) {
  check(arguments);
  FilterRun(arguments).run();
}

}  // namespace phsic
