// Writes each row of a table back, as it was, with values appended.
//
// TSV: `line \t value \t value`, before a '\r' that ends the line. JSONL: the values become the
// last members of the object, all other bytes stay; a line that is no object is written as it is.
// Each line ends with '\n', also the last. The name of the file says whether it is compressed, and
// what a terminal gets is fit for it (byte_sink.h). Buffered. Not thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "cli/table/byte_sink.h"
#include "cli/table/row_batch.h"
#include "cli/table/table.h"

namespace phsic {

// A number is written with six significant digits; one that is not finite is null in JSONL. A tab
// or the end of a line in a text becomes a space in TSV.
using Value = std::variant<double, std::string_view>;

struct WriterOptions {
  TableFormat format = TableFormat::kTsv;  // not kAuto
  std::vector<std::string> names;          // of the appended columns or members
  bool values_only = false;                // leaves out the line: values with tabs between them
};

class TableWriter {
 public:
  // Creates or overwrites the file `path`, or writes to standard output for "-". Throws a
  // WriteError, as all functions here do. What the destructor does about a writer that was not
  // finished: see ByteSink.
  TableWriter(const std::string& path, WriterOptions options);

  // The header of a TSV, with the names appended.
  void header(std::string_view line);
  // Row i with its values. REQUIRES: as many values as names.
  void row(const RowBatch& batch, std::size_t i, std::span<const Value> values);

  // Hands everything to the system, as far as the compression can.
  void flush() { sink_.flush(); }
  // Writes what is left and closes; nothing may be written after it.
  void finish() { sink_.finish(); }

 private:
  void append_tsv(std::string_view line, std::span<const Value> values);
  void append_json(std::string_view line, std::span<const Value> values);
  void hand_over();

  WriterOptions options_;
  std::vector<std::string> json_names_;  // quoted and escaped
  ByteSink sink_;
  std::string buffer_;  // the line being written
};

}  // namespace phsic
