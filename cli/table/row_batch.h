// Some rows of a table: each line as it was, its number, and its wanted fields or what is wrong
// with it.
//
// Everything lies in one arena, so that a batch that is filled again and again allocates nothing
// once it has grown. Views are valid until the batch is filled again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace phsic {

class RowBatch {
 public:
  [[nodiscard]] std::size_t size() const { return rows_.size(); }

  // REQUIRES for all of these: i < size().
  // The line without its '\n', every other byte as it was.
  [[nodiscard]] std::string_view line(std::size_t i) const { return text(rows_[i].line); }
  [[nodiscard]] std::uint64_t line_number(std::size_t i) const { return rows_[i].number; }
  // Empty if the row is sound.
  [[nodiscard]] std::string_view problem(std::size_t i) const { return text(rows_[i].problem); }
  // Whether the line is a JSON object, to which members can be added. Never for TSV.
  [[nodiscard]] bool is_object(std::size_t i) const { return rows_[i].is_object; }

  // As many as were wanted, 0 for a row with a problem.
  [[nodiscard]] std::size_t field_count(std::size_t i) const { return rows_[i].field_count; }
  // REQUIRES: c < field_count(i). Empty also for an optional field that is not there.
  [[nodiscard]] std::string_view field(std::size_t i, std::size_t c) const {
    return text(fields_[rows_[i].first_field + c]);
  }
  // Whether an optional field is there. REQUIRES: c < field_count(i).
  [[nodiscard]] bool has_field(std::size_t i, std::size_t c) const {
    return fields_[rows_[i].first_field + c].begin != kMissing;
  }

  // The rest is for those who fill a batch.

  // Bytes of the arena.
  struct Span {
    std::size_t begin = kMissing;
    std::size_t size = 0;
  };

  void clear();
  // A new last row. Until the next one is added, texts up to the length of the line can be added
  // without moving the arena; kPadding zeros follow the line.
  void add_row(std::string_view line, std::uint64_t number);
  void drop_last_row();

  [[nodiscard]] std::string_view last_line() const { return line(size() - 1); }
  // The place of `part`. REQUIRES: it lies in the arena.
  [[nodiscard]] Span place_of(std::string_view part) const;
  // Copies a text into the arena.
  [[nodiscard]] Span add_text(std::string_view text);
  // Adds a field to the last row.
  void add_field(Span field);
  // Says what is wrong with the last row and drops its fields.
  void set_problem(std::string_view problem);
  void mark_object() { rows_.back().is_object = true; }

  [[nodiscard]] std::string_view text(Span span) const {
    if (span.begin == kMissing) return {};
    return std::string_view(bytes_).substr(span.begin, span.size);
  }
  [[nodiscard]] std::size_t bytes() const { return bytes_.size(); }

  static constexpr std::size_t kPadding = 64;  // what simdjson reads beyond its input

 private:
  static constexpr std::size_t kMissing = static_cast<std::size_t>(-1);

  struct Row {
    Span line;
    Span problem;
    std::uint64_t number = 0;
    std::size_t first_field = 0;
    std::size_t field_count = 0;
    bool is_object = false;
  };

  std::string bytes_;
  std::vector<Span> fields_;
  std::vector<Row> rows_;
};

}  // namespace phsic
