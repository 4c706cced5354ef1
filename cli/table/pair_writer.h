// Writes rows of pairs back to where the user wants them, whether they came from one table or from
// two files, so that who decides about rows need not know which.
//
// A table has one output, a row as TableWriter writes it. Two files have
//   one output:     a TSV `x \t y \t value \t value`; a tab inside a text becomes a space there,
//                   and no '\r' is written, so that no column ever shifts;
//   two outputs:    the line of x and the line of y, each byte for byte; values are not written;
//   three outputs:  the same, and the values of row k, with tabs between them, in line k of the
//                   third.
// Each output is compressed by its name (byte_sink.h). Not thread-safe.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/table/byte_sink.h"
#include "cli/table/row_batch.h"
#include "cli/table/table_writer.h"

namespace phsic {

// What rows look like where they come from. PairTable::layout() gives it.
struct PairLayout {
  bool two_files = false;
  TableFormat format = TableFormat::kTsv;  // of a table; not kAuto
  std::string header;                      // of a table; empty if there is none
};

class PairWriter {
 public:
  // `names` are those of the values, as in WriterOptions; `values_only` leaves out the texts and
  // takes one output. `option` is what the user chose `paths` with, for messages. Throws an Error
  // if there are too many or too few, or the same twice, and a WriteError if one cannot be created.
  PairWriter(std::string_view option, const std::vector<std::string>& paths, PairLayout layout,
             std::vector<std::string> names = {}, bool values_only = false);

  // The header of a table that has one, with the names appended; otherwise nothing.
  void header();
  // Row i with its values. REQUIRES: as many values as names.
  void row(const RowBatch& batch, std::size_t i, std::span<const Value> values = {});

  // As those of ByteSink, for all outputs.
  void flush();
  void finish();

 private:
  PairLayout layout_;
  // What takes a row with its values: the only output, or the third. Null if there are two.
  std::unique_ptr<TableWriter> table_;
  // Those of two files; null if there is one output.
  std::unique_ptr<ByteSink> x_;
  std::unique_ptr<ByteSink> y_;
  bool values_only_;
  // Of the row at hand.
  std::string line_;
  std::vector<Value> values_;
};

// Throws an Error if two of the `outputs` are one file, under whatever names, in which they would
// overwrite each other; it need not be there yet. Names that are empty are passed over, and a
// device such as /dev/null may take several.
void require_distinct(std::string_view option, const std::vector<std::string>& outputs);

// Throws an Error if one of the `outputs` is one of the `inputs`, which it would overwrite while
// they are read. Names that are empty are passed over; "-" is standard input or output.
void require_other_files(std::string_view option, const std::vector<std::string>& outputs,
                         const std::vector<std::string>& inputs);

}  // namespace phsic
