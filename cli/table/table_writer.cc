#include "cli/table/table_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "wire/printable.h"

namespace phsic {
namespace {

void append_tsv_text(std::string& to, std::string_view text) {
  std::replace_copy_if(
      text.begin(), text.end(), std::back_inserter(to),
      [](char c) { return c == '\t' || c == '\n' || c == '\r'; }, ' ');
}

void append_tsv_value(std::string& to, const Value& value) {
  if (const auto* text = std::get_if<std::string_view>(&value)) {
    append_tsv_text(to, *text);
  } else if (const double number = std::get<double>(value); std::isnan(number)) {
    to += "nan";  // without a sign
  } else {
    fmt::format_to(std::back_inserter(to), "{:.6g}", number);
  }
}

void append_json_value(std::string& to, const Value& value) {
  if (const auto* text = std::get_if<std::string_view>(&value)) {
    to += to_json(*text);
  } else if (const double number = std::get<double>(value); !std::isfinite(number)) {
    to += "null";
  } else {
    fmt::format_to(std::back_inserter(to), "{:.6g}", number);
  }
}

}  // namespace

TableWriter::TableWriter(const std::string& path, WriterOptions options)
    : options_(std::move(options)), sink_(path) {
  for (const std::string& name : options_.names) json_names_.push_back(to_json(name));
}

void TableWriter::header(std::string_view line) {
  const std::vector<Value> names(options_.names.begin(), options_.names.end());
  append_tsv(line, names);
  hand_over();
}

void TableWriter::row(const RowBatch& batch, std::size_t i, std::span<const Value> values) {
  if (options_.format == TableFormat::kTsv || options_.values_only) {
    append_tsv(batch.line(i), values);
  } else if (batch.is_object(i)) {
    append_json(batch.line(i), values);
  } else {
    buffer_ += batch.line(i);
    buffer_ += '\n';
  }
  hand_over();
}

void TableWriter::append_tsv(std::string_view line, std::span<const Value> values) {
  if (options_.values_only) line = {};
  const bool has_return = line.ends_with('\r');
  if (has_return) line.remove_suffix(1);
  buffer_ += line;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i > 0 || !options_.values_only) buffer_ += '\t';
    append_tsv_value(buffer_, values[i]);
  }
  buffer_ += has_return ? "\r\n" : "\n";
}

void TableWriter::append_json(std::string_view line, std::span<const Value> values) {
  // The line is a whole object, so its last brace closes it, and the last byte before that which is
  // no space ends a member, or opens an object without members.
  const std::size_t brace = line.rfind('}');
  const std::size_t end = line.find_last_not_of(" \t\r", brace - 1) + 1;
  buffer_ += line.substr(0, end);
  bool needs_comma = buffer_.back() != '{';
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::exchange(needs_comma, true)) buffer_ += ',';
    buffer_ += json_names_[i];
    buffer_ += ':';
    append_json_value(buffer_, values[i]);
  }
  buffer_ += line.substr(end);
  buffer_ += '\n';
}

void TableWriter::hand_over() {
  sink_.write(buffer_);
  buffer_.clear();
}

}  // namespace phsic
