#include "cli/table/pair_writer.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "cli/table/aligned_files.h"
#include "core/error.h"

namespace phsic {
namespace {

void require_count(std::string_view option, std::size_t count, bool two_files, bool has_values,
                   bool values_only) {
  const std::size_t most = !two_files || values_only ? 1 : has_values ? 3 : 2;
  if (count >= 1 && count <= most) return;
  const char* const why = !two_files    ? "as the input is one table"
                          : values_only ? "as no texts are written"
                                        : "as the input is two files";
  const char* const expected = most == 1 ? "one" : most == 2 ? "one or two" : "one to three";
  throw Error(fmt::format("{}: found {} file{}, expected {}, {}", option, count,
                          count == 1 ? "" : "s", expected, why));
}

// Whether two paths name one file, also one that is not there yet.
bool are_same_file(const std::string& a, const std::string& b) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  // Only an absolute path becomes canonical where nothing of it is there.
  const auto place_of = [&](const std::string& path) {
    return fs::weakly_canonical(fs::absolute(path, ignored), ignored);
  };
  // What is there has no other place than itself: a pipe's or a deleted file's leads nowhere.
  if (fs::exists(a, ignored) && fs::exists(b, ignored)) return fs::equivalent(a, b, ignored);
  return place_of(a) == place_of(b);
}

void write_line(ByteSink& sink, std::string_view line, std::string& buffer) {
  buffer = line;
  buffer += '\n';
  sink.write(buffer);
}

}  // namespace

PairWriter::PairWriter(std::string_view option, const std::vector<std::string>& paths,
                       PairLayout layout, std::vector<std::string> names, bool values_only)
    : layout_(std::move(layout)), values_only_(values_only) {
  require_count(option, paths.size(), layout_.two_files, !names.empty(), values_only);
  require_distinct(option, paths);
  if (paths.size() > 1) {
    x_ = std::make_unique<ByteSink>(paths[0]);
    y_ = std::make_unique<ByteSink>(paths[1]);
  }
  if (paths.size() == 2) return;
  WriterOptions options{layout_.format, std::move(names), values_only};
  // Texts of two files are written as values, which cannot break a line.
  if (layout_.two_files) options.values_only = true;
  table_ = std::make_unique<TableWriter>(paths.back(), std::move(options));
}

void PairWriter::header() {
  if (!layout_.header.empty()) table_->header(layout_.header);
}

void PairWriter::row(const RowBatch& batch, std::size_t i, std::span<const Value> values) {
  if (x_) {
    const auto [x, y] = AlignedFiles::lines_of(batch, i);
    write_line(*x_, x, line_);
    write_line(*y_, y, line_);
    if (table_) table_->row(batch, i, values);
  } else if (layout_.two_files && !values_only_) {
    const auto [x, y] = AlignedFiles::texts_of(batch, i);
    values_.assign({x, y});
    values_.insert(values_.end(), values.begin(), values.end());
    table_->row(batch, i, values_);
  } else {
    table_->row(batch, i, values);
  }
}

void PairWriter::flush() {
  if (x_) x_->flush();
  if (y_) y_->flush();
  if (table_) table_->flush();
}

void PairWriter::finish() {
  if (x_) x_->finish();
  if (y_) y_->finish();
  if (table_) table_->finish();
}

void require_other_files(std::string_view option, const std::vector<std::string>& outputs,
                         const std::vector<std::string>& inputs) {
  for (const auto& output : outputs) {
    if (output.empty() || output == "-") continue;
    for (const auto& input : inputs) {
      std::error_code ignored;
      const auto path = input == "-" ? "/dev/stdin" : input;
      if (!std::filesystem::equivalent(path, output, ignored)) continue;
      throw Error(fmt::format("{}: found {}, the same file as the input {}, expected another",
                              option, output, input == "-" ? "standard input" : input));
    }
  }
}

void require_distinct(std::string_view option, const std::vector<std::string>& outputs) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    std::error_code ignored;
    if (outputs[i].empty() || std::filesystem::is_character_file(outputs[i], ignored)) continue;
    for (std::size_t k = 0; k < i; ++k) {
      if (!are_same_file(outputs[i], outputs[k])) continue;
      throw Error(fmt::format("{}: found {} twice, expected different files", option, outputs[i]));
    }
  }
}

}  // namespace phsic
