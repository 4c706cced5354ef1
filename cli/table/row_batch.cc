#include "cli/table/row_batch.h"

#include <algorithm>

namespace phsic {

void RowBatch::clear() {
  bytes_.clear();
  fields_.clear();
  rows_.clear();
}

void RowBatch::add_row(std::string_view line, std::uint64_t number) {
  const std::size_t needed = bytes_.size() + 2 * line.size() + kPadding;
  // Doubling, because reserve() by itself may give just what is asked for.
  if (needed > bytes_.capacity()) bytes_.reserve(std::max(needed, 2 * bytes_.capacity()));
  Row row;
  row.line = add_text(line);
  row.number = number;
  row.first_field = fields_.size();
  rows_.push_back(row);
  bytes_.append(kPadding, '\0');
}

void RowBatch::drop_last_row() {
  fields_.resize(rows_.back().first_field);
  bytes_.resize(rows_.back().line.begin);
  rows_.pop_back();
}

RowBatch::Span RowBatch::place_of(std::string_view part) const {
  return {static_cast<std::size_t>(part.data() - bytes_.data()), part.size()};
}

RowBatch::Span RowBatch::add_text(std::string_view text) {
  const Span span{bytes_.size(), text.size()};
  bytes_ += text;
  return span;
}

void RowBatch::add_field(Span field) {
  fields_.push_back(field);
  ++rows_.back().field_count;
}

void RowBatch::set_problem(std::string_view problem) {
  Row& row = rows_.back();
  fields_.resize(row.first_field);
  row.field_count = 0;
  row.problem = add_text(problem);
}

}  // namespace phsic
