// Writes each row of a table back, as it was, with values appended.
//
// TSV: `line \t value \t value`, before a '\r' that ends the line. JSONL: the values become the
// last members of the object, all other bytes stay; a line that is no object is written as it is.
// Each line ends with '\n', also the last. What a terminal gets is fit for it (text.h). Buffered.
// Not thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "cli/table/row_batch.h"
#include "cli/table/table.h"
#include "core/error.h"

namespace phsic {

// A number is written with six significant digits; one that is not finite is null in JSONL. A tab
// or the end of a line in a text becomes a space in TSV.
using Value = std::variant<double, std::string_view>;

struct WriterOptions {
  TableFormat format = TableFormat::kTsv;  // not kAuto
  std::vector<std::string> names;          // of the appended columns or members
  bool values_only = false;                // leaves out the line: values with tabs between them
};

// The output could not be written. code() is the errno: EPIPE when nobody reads any more, which one
// sees only if SIGPIPE is ignored.
class WriteError : public Error {
 public:
  WriteError(const std::string& message, int code) : Error(message), code_(code) {}
  [[nodiscard]] int code() const { return code_; }

 private:
  int code_;
};

class TableWriter {
 public:
  // Creates or overwrites the file `path`, or writes to standard output for "-". Throws a
  // WriteError.
  TableWriter(const std::string& path, WriterOptions options);
  // Writes what is left, without telling whether that worked; finish() tells.
  ~TableWriter();
  TableWriter(const TableWriter&) = delete;
  TableWriter& operator=(const TableWriter&) = delete;
  TableWriter(TableWriter&&) = delete;
  TableWriter& operator=(TableWriter&&) = delete;

  // The header of a TSV, with the names appended.
  void header(std::string_view line);
  // Row i with its values. REQUIRES: as many values as names.
  void row(const RowBatch& batch, std::size_t i, std::span<const Value> values);

  // Hands everything to the system. These three throw a WriteError.
  void flush();
  // Flushes and closes; nothing may be written after it.
  void finish();

 private:
  void append_tsv(std::string_view line, std::span<const Value> values);
  void append_json(std::string_view line, std::span<const Value> values);
  void append_values(std::span<const Value> values);
  void flush_if_full();
  [[noreturn]] void fail(int code);

  WriterOptions options_;
  std::vector<std::string> json_names_;  // quoted and escaped
  std::string name_;
  std::string buffer_;
  int fd_ = -1;
  bool owned_ = false;
  bool is_terminal_ = false;
};

}  // namespace phsic
