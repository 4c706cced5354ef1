#include "cli/table/aligned_files.h"

#include <fmt/format.h>

#include "core/error.h"
#include "wire/printable.h"

namespace phsic {
namespace {

// What a line says, without what belongs to its file.
std::string_view text_of_line(std::string_view line, std::uint64_t number) {
  if (number == 1 && line.starts_with(kByteOrderMark)) line.remove_prefix(kByteOrderMark.size());
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

// Empty if the line can be used.
std::string problem_of(std::string_view line, const LineReader& reader) {
  if (reader.was_too_long()) return fmt::format("longer than 64 MiB in {}", reader.name());
  const std::size_t good = utf8_prefix(line);
  if (good == line.size()) return {};
  return fmt::format("broken UTF-8 at byte {} of {}", good + 1, reader.name());
}

}  // namespace

AlignedFiles::AlignedFiles(const std::string& x, const std::string& y, const Following& following)
    : x_(x, following), y_(y, following), name_(fmt::format("{} + {}", x_.name(), y_.name())) {
  if (x == "-" && y == "-") {
    throw Error("found standard input for both x and y, expected a file for one of them");
  }
}

std::size_t AlignedFiles::read(RowBatch& batch, std::size_t max_rows, Wait wait) {
  if (broken_) std::rethrow_exception(std::exchange(broken_, nullptr));
  batch.clear();
  const auto wants_more = [&] {
    if (batch.size() == 0) return max_rows > 0;
    return batch.size() < max_rows && batch.bytes() < kBatchBytes &&
           (wait == Wait::kForAll || (x_.ready() && y_.ready()));
  };
  try {
    while (!ended_ && wants_more()) ended_ = !next_row(batch);
  } catch (const Error&) {
    ended_ = true;
    if (batch.size() == 0) throw;
    broken_ = std::current_exception();
  }
  return batch.size();
}

// False at the end.
bool AlignedFiles::next_row(RowBatch& batch) {
  std::string_view x;
  std::string_view y;
  const bool has_x = x_.next(x);
  const bool has_y = y_.next(y);
  if (has_x && !has_y) fail_unequal(y_, x_);
  if (has_y && !has_x) fail_unequal(x_, y_);
  if (!has_x) return false;
  joined_ = x;
  joined_ += '\n';
  joined_ += y;
  batch.add_row(joined_, x_.line_number());
  auto problem = problem_of(x, x_);
  if (problem.empty()) problem = problem_of(y, y_);
  if (!problem.empty()) {
    batch.set_problem(problem);
    return true;
  }
  const auto [text_x, text_y] = texts_of(batch, batch.size() - 1);
  batch.add_field(batch.place_of(text_x));
  batch.add_field(batch.place_of(text_y));
  return true;
}

void AlignedFiles::fail_unequal(const LineReader& shorter, const LineReader& longer) const {
  throw Error(
      fmt::format("{}: {} ends after {} line{}, but {} has a line {}; expected as many in "
                  "both",
                  name_, shorter.name(), shorter.line_number(),
                  shorter.line_number() == 1 ? "" : "s", longer.name(), longer.line_number()));
}

std::optional<std::uint64_t> AlignedFiles::size() const {
  if (!x_.size() || !y_.size()) return std::nullopt;
  return *x_.size() + *y_.size();
}

std::pair<std::string_view, std::string_view> AlignedFiles::lines_of(const RowBatch& batch,
                                                                     std::size_t i) {
  const std::string_view both = batch.line(i);
  const std::size_t end = both.find('\n');
  return {both.substr(0, end), both.substr(end + 1)};
}

std::pair<std::string_view, std::string_view> AlignedFiles::texts_of(const RowBatch& batch,
                                                                     std::size_t i) {
  const auto [x, y] = lines_of(batch, i);
  return {text_of_line(x, batch.line_number(i)), text_of_line(y, batch.line_number(i))};
}

}  // namespace phsic
