#include "cli/table/pair_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <system_error>
#include <utility>

#include "cli/table/aligned_files.h"
#include "cli/table/timestamp.h"
#include "core/error.h"
#include "wire/printable.h"

namespace phsic {
namespace {

constexpr std::size_t kX = 0;
constexpr std::size_t kY = 1;
constexpr std::size_t kTime = 2;

}  // namespace

TableOptions PairTable::options_for(const TableArguments& arguments,
                                    const std::vector<std::string>& extra,
                                    const std::vector<AddedColumn>& added) {
  TableOptions options;
  options.format = arguments.format;
  options.header = arguments.header;
  options.added = added;
  options.following = arguments.following;
  // Without a choice, x and y are the first two columns that are nothing else.
  std::size_t place = 1;
  const auto choose = [&](const std::string& chosen, const std::string& member) -> Column {
    if (!chosen.empty()) return {chosen};
    const auto is_taken = [&](const std::string& name) {
      return name == arguments.x || name == arguments.y || name == arguments.time ||
             std::find(extra.begin(), extra.end(), name) != extra.end();
    };
    while (is_taken(std::to_string(place))) ++place;
    Column column{std::to_string(place++)};
    column.member = member;
    return column;
  };
  options.columns = {choose(arguments.x, "x"), choose(arguments.y, "y")};
  if (arguments.time.empty()) {
    // Any column fills the place of the time, so that the extra columns begin at kExtra.
    options.columns.push_back(options.columns[kX]);
  } else {
    options.columns.push_back({arguments.time});
  }
  for (const auto& name : extra) options.columns.push_back({name});
  return options;
}

PairTable::PairTable(const std::string& path, const TableArguments& arguments,
                     const std::vector<std::string>& extra, const std::vector<AddedColumn>& added)
    : PairTable(std::make_unique<Table>(path, options_for(arguments, extra, added)), arguments) {}

PairTable::PairTable(const std::vector<std::string>& files, const TableArguments& arguments,
                     const std::vector<AddedColumn>& added)
    : PairTable(open(files, arguments, added), arguments) {
  std::error_code ignored;
  is_one_file_twice_ =
      files.size() == 2 && std::filesystem::equivalent(files[0], files[1], ignored);
}

PairTable::PairTable(std::unique_ptr<RowSource> source, const TableArguments& arguments)
    : source_(std::move(source)),
      table_(dynamic_cast<const Table*>(source_.get())),
      bad_lines_(arguments.bad_lines, progress_),
      has_times_(!arguments.time.empty()) {}

std::unique_ptr<RowSource> PairTable::open(const std::vector<std::string>& files,
                                           const TableArguments& arguments,
                                           const std::vector<AddedColumn>& added) {
  if (files.size() == 1) {
    return std::make_unique<Table>(files.front(), options_for(arguments, {}, added));
  }
  const std::pair<const char*, bool> senseless[] = {
      {"--x", !arguments.x.empty()},
      {"--y", !arguments.y.empty()},
      {"--time", !arguments.time.empty()},
      {"--format", arguments.format != TableFormat::kAuto},
      {"--header", arguments.header}};
  for (const auto& [flag, is_given] : senseless) {
    if (!is_given) continue;
    throw Error(
        fmt::format("{}: found two files, {} and {}, whose lines have no columns, expected "
                    "one table",
                    flag, files[0], files[1]));
  }
  return std::make_unique<AlignedFiles>(files[0], files[1], arguments.following);
}

PairLayout PairTable::layout() const {
  if (table_ == nullptr) return {true, TableFormat::kTsv, {}};
  return {false, table_->format(), table_->header()};
}

bool PairTable::read(PairBatch& batch, std::size_t most, bool live) {
  if (fatal_) throw BadLineError(*fatal_);
  const auto count =
      source_->read(batch.rows, most, live ? RowSource::Wait::kForOne : RowSource::Wait::kForAll);
  batch.row_of.clear();
  batch.x.clear();
  batch.y.clear();
  batch.times.clear();
  for (std::size_t i = 0; i < count; ++i) {
    const auto problem = take_row(batch, i);
    if (problem.empty()) continue;
    try {
      bad_lines_.add(name(), batch.rows.line_number(i), problem);
    } catch (const BadLineError& error) {
      if (i == 0) throw;
      fatal_ = error;
      while (batch.rows.size() > i) batch.rows.drop_last_row();
      break;
    }
  }
  rows_read_ += count;
  if (shows_progress_) progress_.update(rows_read_, source_->bytes_read(), source_->size());
  return count > 0;
}

// Returns what is wrong with the row, if anything.
std::string PairTable::take_row(PairBatch& batch, std::size_t i) {
  const auto& rows = batch.rows;
  if (!rows.problem(i).empty()) return std::string(rows.problem(i));
  if (has_times_) {
    const auto time = parse_timestamp(rows.field(i, kTime));
    if (!time || std::abs(*time) > kMaxTime) {
      return fmt::format("the time is {}, expected seconds or such as 2004-12-25T03:32:00Z",
                         quote(rows.field(i, kTime)));
    }
    batch.times.push_back(*time);
  }
  batch.row_of.push_back(i);
  batch.x.push_back(rows.field(i, kX));
  batch.y.push_back(rows.field(i, kY));
  if (batch.x.back() == batch.y.back()) ++copies_;
  return {};
}

void PairTable::expect_two_texts(bool are_useless) {
  if (is_one_file_twice_ || (table_ != nullptr && table_->is_same_column(kX, kY))) {
    throw Error(fmt::format(
        "{}: found one {} for both x and y, expected two; a text with itself is only learned "
        "with --learn-identical true",
        name(), is_one_file_twice_ ? "file" : "column"));
  }
  expects_two_texts_ = are_useless;
}

void PairTable::report(const PairBatch& batch, const std::vector<PairProblem>& problems) {
  for (const auto& problem : problems) {
    if (batch.x[problem.row] == batch.y[problem.row]) --copies_;  // counts as a bad line now
    bad_lines_.add(name(), batch.rows.line_number(batch.row_of[problem.row]), problem.message);
  }
}

void PairTable::finish() {
  bad_lines_.summarize();
  progress_.erase();
  bad_lines_.require_use(name(), rows_read_, expects_two_texts_ ? copies_ : 0,
                         "a text with itself, which is only learned with --learn-identical true");
}

void require_two_inputs(const std::string& learn, const std::string& input) {
  if (learn == "-" && input == "-") {
    throw Error(
        "--learn: found standard input, which INPUT is too, expected a file for one of them");
  }
}

void learn_rows(Session& stream, PairTable& table) {
  PairBatch batch;
  std::vector<PairProblem> problems;
  // No more than has room, so that pivots follow at the same pairs whoever learns them.
  while (table.read(batch, std::min(kBatchRows, stream.until_refresh()))) {
    stream.learn(batch.pairs(), problems);
    table.report(batch, problems);
  }
}

void learn_table(Session& stream, const std::string& path, const TableArguments& arguments,
                 bool learns_copies) {
  learn_table(stream, std::vector<std::string>{path}, arguments, learns_copies);
}

void learn_table(Session& stream, const std::vector<std::string>& files,
                 const TableArguments& arguments, bool learns_copies) {
  PairTable table(files, arguments);
  if (!learns_copies) table.expect_two_texts();
  learn_rows(stream, table);
  table.finish();
  if (stream.facts().pairs == 0) {
    throw Error(fmt::format(
        "{}: found no pair to learn from, expected at least one; a text with "
        "itself is only learned with --learn-identical true, and nothing that --rules reject",
        table.name()));
  }
  stream.finish();
}

}  // namespace phsic
