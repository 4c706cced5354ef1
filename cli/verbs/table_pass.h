// The pairs of a table, judged batch by batch in the way that the user has chosen:
//
//   one pass        each pair is scored, then learned
//   --two-pass      all pairs are learned, then all are scored
//   --learn FILE    FILE is learned, then all pairs are scored
//   --model FILE    all pairs are scored with a model of before; --no-learn: with a daemon's
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/arguments.h"
#include "cli/session/duplicate_watch.h"
#include "cli/session/left_out_tally.h"
#include "cli/session/session.h"
#include "cli/table/pair_table.h"

namespace phsic {

struct PassArguments {
  std::vector<std::string> inputs = {"-"};  // one table, or two files whose lines are pairs
  std::string learn;                        // a table to learn from first
  bool two_pass = false;
  bool keeps_own_share = false;
  bool flush = false;
  TableArguments table;
  ModelArguments model;

  // All but the inputs.
  void add_to(CLI::App& verb);
  // All files that are read, for who must not write to them.
  [[nodiscard]] std::vector<std::string> files() const;
};

class TablePass {
 public:
  // What becomes of pairs that a rule rejects, where it matters whether a table is of any use.
  enum class Rejects : bool {
    kAreUseless,  // copies of a text are of no use, and what cannot be encoded is a bad line
    kAreFine,     // they were rejected, as they should be
  };

  // Opens the session, and learns what is to be learned before. `added` are the columns that
  // will be written behind each row.
  TablePass(const PassArguments& arguments, Rejects rejects, const std::vector<AddedColumn>& added);

  // The next rows of the table, judged. False at the end.
  bool next();
  // Of the rows of the last next().
  [[nodiscard]] const PairBatch& batch() const { return batch_; }
  [[nodiscard]] const PairResults& results() const { return results_; }
  // Throws an Error if a daemon has given scores without decisions.
  void require_decisions() const;
  // Whether a bad line ends the run at this pair, so that nothing from there on is to be written.
  [[nodiscard]] bool ends_at(std::size_t pair) const;
  // Tells of bad lines among them, or throws.
  void report();
  // Tells what was wrong with the table. Throws a UselessTableError if it was of no use.
  void finish();

  // A sound row is one of the pairs.
  static constexpr std::size_t kNoPair = SIZE_MAX;
  // The pair of each row of the batch, or kNoPair.
  [[nodiscard]] const std::vector<std::size_t>& pair_of() const { return pair_of_; }

  // For who writes the rows back.
  [[nodiscard]] PairLayout layout() const { return table_->layout(); }
  void hide_progress() { table_->hide_progress(); }
  [[nodiscard]] Session& session() { return *session_; }
  [[nodiscard]] const Session& session() const { return *session_; }

 private:
  void learn_first(bool learns_copies);
  void check_arguments() const;
  // Tells on standard error what the numbers are going to lack.
  void warn(const StreamSpec& spec) const;
  void find_pairs_of_rows();

  const PassArguments& arguments_;
  Rejects rejects_;
  std::unique_ptr<Session> session_;
  bool learns_;
  std::optional<DuplicateWatch> watch_;
  std::unique_ptr<PairTable> table_;
  PairBatch batch_;
  PairResults results_;
  std::vector<std::size_t> pair_of_;
  std::vector<PairProblem> told_;
  LeftOutTally left_out_;
};

}  // namespace phsic
