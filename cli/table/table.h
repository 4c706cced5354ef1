// A table of texts, read row by row from a TSV or a JSONL file.
//
// TSV: fields between tabs, nothing quoted; a '\r' at the end of a line is no part of its last
// field. JSONL: a JSON object in each line. A UTF-8 byte order mark before the first line is
// ignored. Every '\n' ends a line, and so does the end of the file where something follows the last
// '\n'. Every line but the header is a row, whatever is in it, so that row k is line k. What is
// wrong with one row is told with that row, see RowBatch::problem(); only what makes the rest
// unreadable or the options senseless is thrown. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/table/line_reader.h"
#include "cli/table/row_batch.h"
#include "cli/table/row_source.h"

namespace phsic {

class JsonRow;

// kAuto is JSONL if the first line that is not empty begins with '{', else TSV.
enum class TableFormat : std::uint8_t { kAuto, kTsv, kJsonl };

struct Column {
  // As the user wrote it. TSV: its number, counted from 1, or with a header its name (a name that
  // looks like a number is a name first). JSONL: the name of a member.
  std::string name;
  // Rows without it have a problem. A column that is not required may also be null in JSONL.
  bool required = true;
  // JSONL: nothing but a string will do. Otherwise a number, a boolean or an array is given too, as
  // the text it has in the file.
  bool text_only = false;
  // JSONL: the member's name, where the user left it open and `name` is only a place in a TSV.
  std::string member = {};
};

// A column that the output adds to each line.
struct AddedColumn {
  std::string name;
  std::string advice;  // what to do where a table has a column of that name, for the message
};

struct TableOptions {
  TableFormat format = TableFormat::kAuto;
  bool header = false;  // the first line of a TSV names its columns
  // The wanted fields of each row, in this order.
  std::vector<Column> columns;
  // For an item and its candidates, any number of them. TSV: every column is a field. JSONL: the
  // first field is columns[0], the others are what the array columns[1] holds.
  bool all_fields = false;
  // What the output will add to each line; a table that has one of them already is refused.
  std::vector<AddedColumn> added;
  Following following = {};
};

class Table : public RowSource {
 public:
  // A path, or "-" for standard input. Waits for the first line that is not empty. Throws an Error
  // if the file cannot be opened, or if a wanted column cannot be, naming those that there are.
  Table(const std::string& path, TableOptions options);
  ~Table() override;
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;
  Table(Table&&) = delete;
  Table& operator=(Table&&) = delete;

  // A line longer than kMaxLine is a row without its text, and has a problem. An Error names the
  // line, too.
  std::size_t read(RowBatch& batch, std::size_t max_rows, Wait wait = Wait::kForAll) override;

  [[nodiscard]] const std::string& name() const override { return lines_.name(); }
  [[nodiscard]] std::uint64_t bytes_read() const override { return lines_.bytes_read(); }
  [[nodiscard]] std::optional<std::uint64_t> size() const override { return lines_.size(); }

  [[nodiscard]] TableFormat format() const { return format_; }  // never kAuto
  // The header as it was, without '\n'; empty if there is none.
  [[nodiscard]] const std::string& header() const { return header_; }
  [[nodiscard]] const LineReader& lines() const { return lines_; }
  // Whether two of the wanted columns are one. REQUIRES: a and b are their numbers.
  [[nodiscard]] bool is_same_column(std::size_t a, std::size_t b) const;

 private:
  struct Line {
    std::string_view text;
    bool is_too_long = false;
  };
  // A line that was looked at before it is given.
  struct HeldLine {
    std::string text;
    bool is_too_long = false;
  };

  void look_at_first_lines();
  void take_header(std::string_view body);
  void place_columns(std::string_view first_line);
  [[nodiscard]] std::map<std::string, std::size_t> open_places(
      const std::vector<std::string_view>& names) const;
  [[nodiscard]] std::size_t find_by_number(const Column& column, std::size_t count) const;
  [[nodiscard]] std::size_t find_in_header(const Column& column,
                                           const std::vector<std::string_view>& names) const;
  bool next_row(Line& line);
  bool ready();
  void add_row(RowBatch& batch, const Line& line);
  void parse_tsv(RowBatch& batch, std::string_view body);
  [[noreturn]] void fail(const std::string& why) const;

  LineReader lines_;
  TableOptions options_;
  TableFormat format_;
  std::string header_;
  // TSV: the place of each wanted column counted from 0, how many columns a row must have, and how
  // many are looked at.
  std::vector<std::size_t> places_;
  std::size_t needed_ = 0;
  std::size_t looked_at_ = 0;
  std::vector<RowBatch::Span> spans_;  // of the row at hand
  std::unique_ptr<JsonRow> json_;
  // Lines that were looked at and not yet given, from next_held_ on.
  std::vector<HeldLine> held_;
  std::size_t next_held_ = 0;
  std::uint64_t line_number_ = 0;  // of the line given last
  std::exception_ptr broken_;      // thrown by the next read()
};

}  // namespace phsic
