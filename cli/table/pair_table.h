// A table whose rows are pairs of texts, or two files whose lines are, read in batches that a
// stream can take.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/session/session.h"
#include "cli/table/bad_lines.h"
#include "cli/table/pair_writer.h"
#include "cli/table/progress.h"
#include "cli/table/table.h"
#include "cli/table/table_arguments.h"

namespace phsic {

// Rows as they were read, and the sound ones among them as pairs. Valid until the next read.
struct PairBatch {
  RowBatch rows;
  std::vector<std::size_t> row_of;  // the row of each pair
  std::vector<std::string_view> x;
  std::vector<std::string_view> y;
  std::vector<double> times;  // empty: the table has none

  [[nodiscard]] std::size_t size() const { return x.size(); }
  [[nodiscard]] TextPairs pairs() const { return {x, y, times}; }
};

class PairTable {
 public:
  // `extra` are further columns of text, fields kExtra and up of each row. `added` are the
  // columns that will be written behind each row.
  PairTable(const std::string& path, const TableArguments& arguments,
            const std::vector<std::string>& extra = {}, const std::vector<AddedColumn>& added = {});
  // One file is such a table. Of two files, line k of the first is the x and line k of the second
  // the y of a pair, see aligned_files.h; throws an Error if the arguments ask for columns, a
  // format or a header, which these have not. REQUIRES: one or two files.
  PairTable(const std::vector<std::string>& files, const TableArguments& arguments,
            const std::vector<AddedColumn>& added = {});

  // Up to `most` further rows, and none at the end: false. `live` does not wait for more than one.
  // Where a bad line is fatal, the rows before it come first.
  bool read(PairBatch& batch, std::size_t most, bool live = false);

  // For those who learn nothing from a text that is paired with itself: throws an Error if x and y
  // are the same column or file. If `are_useless`, such pairs count as lines of no use.
  void expect_two_texts(bool are_useless = true);

  // Reports pairs of the batch that the stream could not use.
  void report(const PairBatch& batch, const std::vector<PairProblem>& problems);
  // Says how many bad lines there were, and shows no progress any more. Throws a UselessTableError
  // if nearly no line was of use.
  void finish();
  // For those who write to the terminal themselves.
  void hide_progress() { shows_progress_ = false; }

  // For messages: the file, or both.
  [[nodiscard]] const std::string& name() const { return source_->name(); }
  // For who writes the rows back.
  [[nodiscard]] PairLayout layout() const;

  static constexpr std::size_t kExtra = 3;

 private:
  PairTable(std::unique_ptr<RowSource> source, const TableArguments& arguments);
  [[nodiscard]] static std::unique_ptr<RowSource> open(const std::vector<std::string>& files,
                                                       const TableArguments& arguments,
                                                       const std::vector<AddedColumn>& added);
  [[nodiscard]] static TableOptions options_for(const TableArguments& arguments,
                                                const std::vector<std::string>& extra,
                                                const std::vector<AddedColumn>& added);
  [[nodiscard]] std::string take_row(PairBatch& batch, std::size_t i);

  std::unique_ptr<RowSource> source_;
  const Table* table_;  // the source, if it is a table
  Progress progress_;
  BadLines bad_lines_;
  bool has_times_;
  bool is_one_file_twice_ = false;
  bool shows_progress_ = true;
  std::optional<BadLineError> fatal_;  // thrown by the next read()
  std::uint64_t rows_read_ = 0;
  bool expects_two_texts_ = false;
  std::uint64_t copies_ = 0;  // pairs of a text with itself
};

// Rows to read at once: enough for every thread, few enough to keep at hand.
inline constexpr std::size_t kBatchRows = 4096;

// Throws an Error if both are standard input, which gives its lines only once.
void require_two_inputs(const std::string& learn, const std::string& input);

// Learns the rest of a table. The model does not change until the session is told to finish.
void learn_rows(Session& stream, PairTable& table);
// Learns a whole table. Throws an Error if there was no pair in it, and a UselessTableError if
// there was nearly none. `learns_copies`: the stream also learns a text that is paired with itself.
void learn_table(Session& stream, const std::string& path, const TableArguments& arguments,
                 bool learns_copies);
// The same for one table or two files.
void learn_table(Session& stream, const std::vector<std::string>& files,
                 const TableArguments& arguments, bool learns_copies);

}  // namespace phsic
