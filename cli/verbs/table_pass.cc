#include "cli/verbs/table_pass.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "cli/session/local_session.h"

namespace phsic {

void PassArguments::add_to(CLI::App& verb) {
  verb.add_option("--learn", learn, "learn from this table, then score INPUT without learning it")
      ->type_name("FILE");
  verb.add_flag("--two-pass", two_pass, "learn all of INPUT first, then score all of it")
      ->excludes("--learn");
  verb.add_flag("--keep-own-share", keeps_own_share,
                "with --two-pass, --learn and --model: score a pair that was learned with what it "
                "has taught itself, too");
  verb.add_flag("--flush", flush, "write each line as soon as it is there, for live pipes");
  table.add_to(verb, TableUse::kReadAndWritten);
  model.add_to(verb);
  for (const char* other : {"--learn", "--two-pass"}) {
    verb.get_option(other)->excludes("--model")->excludes("--no-learn");
  }
}

std::vector<std::string> PassArguments::files() const {
  auto files = inputs;
  files.push_back(learn);
  files.push_back(model.model);
  files.push_back(model.config);
  return files;
}

TablePass::TablePass(const PassArguments& arguments, Rejects rejects,
                     const std::vector<AddedColumn>& added)
    : arguments_(arguments),
      rejects_(rejects),
      learns_(!arguments.two_pass && arguments.learn.empty() && !arguments.model.is_fixed()) {
  check_arguments();
  StreamSpec spec;
  session_ = arguments.model.open(arguments.table, &spec);
  if (auto* const own = dynamic_cast<LocalSession*>(session_.get()); own != nullptr && !learns_) {
    own->set_own_share(arguments.keeps_own_share);
    if (arguments.two_pass && !arguments.keeps_own_share) own->will_judge_learned();
  }
  warn(spec);
  const bool learns_copies = spec.learns_identical;
  learn_first(learns_copies);
  table_ = std::make_unique<PairTable>(arguments.inputs, arguments.table, added);
  if (learns_ && !learns_copies) {
    table_->expect_two_texts(rejects == Rejects::kAreUseless);
  }
}

void TablePass::warn(const StreamSpec& spec) const {
  const auto& model = arguments_.model;
  const auto& decisions = model.decisions;
  if (!model.model.empty() &&
      std::any_of(decisions.begin(), decisions.end(),
                  [](const auto& option) { return option.first == "duplicates"; })) {
    fmt::print(stderr,
               "phsic: --duplicates does nothing with --model: what is decided about a line must "
               "not depend on others\n");
  }
  if (arguments_.keeps_own_share || (!arguments_.two_pass && !model.is_fixed())) return;
  const auto* const own = dynamic_cast<const LocalSession*>(session_.get());
  const char* why = nullptr;
  if (own == nullptr || (!model.model.empty() && own->learned_pairs().size() == 0)) {
    why = "which pairs the stream has learned is not known here, so that they vouch for themselves";
  } else if (spec.estimator.phsic_at_rank) {
    why = "fewer directions than there are (rank) were chosen by the very pairs that were learned";
  } else if (spec.forgetting.mode != Forgetting::Mode::kNever) {
    why =
        "the stream forgets, so that nobody can tell how much a pair that was learned vouches "
        "for itself";
  }
  if (why == nullptr) return;
  fmt::print(stderr, "phsic: {}: the p-values and percentiles of learned pairs are too good\n",
             why);
}

void TablePass::check_arguments() const {
  for (const auto& input : arguments_.inputs) {
    require_two_inputs(arguments_.learn, input);
    std::error_code ignored;
    const bool is_pipe = std::filesystem::exists(input, ignored) &&
                         !std::filesystem::is_regular_file(input, ignored);
    if (!arguments_.two_pass || (input != "-" && !is_pipe)) continue;
    throw Error(fmt::format("--two-pass: found {}, expected a file that can be read twice",
                            input == "-" ? "standard input" : input));
  }
}

void TablePass::learn_first(bool learns_copies) {
  if (!arguments_.two_pass && arguments_.learn.empty()) return;
  const auto files = arguments_.two_pass ? arguments_.inputs : std::vector{arguments_.learn};
  watch_.emplace(session_->plan());
  if (rejects_ == Rejects::kAreUseless) {
    learn_table(*session_, files, arguments_.table, learns_copies);
    return;
  }
  PairTable table(files, arguments_.table);
  if (!learns_copies) table.expect_two_texts(false);
  learn_rows(*session_, table);
  table.finish();
  if (session_->facts().pairs > 0) session_->finish();
}

bool TablePass::next() {
  const auto most = learns_ ? std::min(kBatchRows, session_->until_refresh()) : kBatchRows;
  if (!table_->read(batch_, most, arguments_.flush)) return false;
  if (learns_) {
    session_->score_then_learn(batch_.pairs(), results_);
  } else {
    session_->score(batch_.pairs(), results_);
  }
  if (watch_) watch_->look(batch_.pairs(), results_);
  left_out_.add(results_.left_out);
  find_pairs_of_rows();
  // What a rule rejects is no bad line where it is asked for.
  told_ = results_.problems;
  if (rejects_ == Rejects::kAreFine && !results_.decisions.empty()) {
    std::erase_if(told_, [&](const PairProblem& problem) {
      return is_rejection(results_.decisions[problem.row].reason);
    });
  }
  return true;
}

void TablePass::find_pairs_of_rows() {
  pair_of_.assign(batch_.rows.size(), kNoPair);
  for (std::size_t pair = 0; pair < batch_.size(); ++pair) pair_of_[batch_.row_of[pair]] = pair;
}

void TablePass::require_decisions() const {
  if (results_.decisions.size() == results_.scores.size()) return;
  throw Error(fmt::format("{}: found scores without decisions, expected a daemon that decides",
                          arguments_.model.daemon.endpoint));
}

bool TablePass::ends_at(std::size_t pair) const {
  return arguments_.table.bad_lines == BadLinePolicy::kFail && !told_.empty() &&
         pair >= told_.front().row;
}

void TablePass::report() { table_->report(batch_, told_); }

void TablePass::finish() {
  std::fputs(left_out_.describe().c_str(), stderr);
  std::fputs(session_->blind_views().c_str(), stderr);
  table_->finish();
}

}  // namespace phsic
