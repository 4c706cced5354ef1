// Two files whose lines belong together, read as rows: line k of the one is the x of row k, and
// line k of the other its y.
//
// Nothing separates fields in a line, so a tab is part of the text, and an empty line is an empty
// text. A '\r' at the end of a line is no part of its text, and neither is a UTF-8 byte order mark
// before the first; both come back with the line. Each file may be compressed, see byte_source.h.
// Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "cli/table/line_reader.h"
#include "cli/table/row_source.h"

namespace phsic {

class AlignedFiles : public RowSource {
 public:
  // Paths; one of them may be "-" for standard input. Throws an Error if one cannot be opened.
  AlignedFiles(const std::string& x, const std::string& y, const Following& following = {});

  // The line of a row is both lines with '\n' between them, see lines_of(). A sound row has two
  // fields, its texts. One of broken UTF-8 or with a line longer than kMaxLine has a problem.
  // Throws an Error, too, when one file ends before the other, after all lines that both have.
  std::size_t read(RowBatch& batch, std::size_t max_rows, Wait wait = Wait::kForAll) override;

  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] std::uint64_t bytes_read() const override {
    return x_.bytes_read() + y_.bytes_read();
  }
  [[nodiscard]] std::optional<std::uint64_t> size() const override;

  // The lines of x and of y of a row, byte for byte but for '\n'. REQUIRES: the row is of such
  // files.
  [[nodiscard]] static std::pair<std::string_view, std::string_view> lines_of(const RowBatch& batch,
                                                                              std::size_t i);
  // The two texts, also where the row has a problem.
  [[nodiscard]] static std::pair<std::string_view, std::string_view> texts_of(const RowBatch& batch,
                                                                              std::size_t i);

 private:
  bool next_row(RowBatch& batch);
  [[noreturn]] void fail_unequal(const LineReader& shorter, const LineReader& longer) const;

  LineReader x_;
  LineReader y_;
  std::string name_;
  std::string joined_;         // the lines of the row at hand
  std::exception_ptr broken_;  // thrown by the next read()
  bool ended_ = false;
};

}  // namespace phsic
