#include "cli/table/pair_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

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
                                    const std::vector<std::string>& added) {
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
    // A place is kept for it, so that the extra columns always have the same.
    options.columns.push_back(options.columns[kX]);
  } else {
    options.columns.push_back({arguments.time});
  }
  for (const auto& name : extra) options.columns.push_back({name});
  return options;
}

PairTable::PairTable(const std::string& path, const TableArguments& arguments,
                     const std::vector<std::string>& extra, const std::vector<std::string>& added)
    : table_(path, options_for(arguments, extra, added)),
      bad_lines_(arguments.bad_lines, progress_),
      has_times_(!arguments.time.empty()) {}

bool PairTable::read(PairBatch& batch, std::size_t most, bool live) {
  if (fatal_) throw BadLineError(*fatal_);
  const auto count =
      table_.read(batch.rows, most, live ? Table::Wait::kForOne : Table::Wait::kForAll);
  batch.row_of.clear();
  batch.x.clear();
  batch.y.clear();
  batch.times.clear();
  for (std::size_t i = 0; i < count; ++i) {
    const auto problem = take_row(batch, i);
    if (problem.empty()) continue;
    try {
      bad_lines_.add(table_.lines().name(), batch.rows.line_number(i), problem);
    } catch (const BadLineError& error) {
      if (i == 0) throw;
      fatal_ = error;
      while (batch.rows.size() > i) batch.rows.drop_last_row();
      break;
    }
  }
  rows_read_ += count;
  if (shows_progress_) {
    progress_.update(rows_read_, table_.lines().bytes_read(), table_.lines().size());
  }
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

void PairTable::expect_two_texts() {
  if (table_.is_same_column(kX, kY)) {
    throw Error(fmt::format(
        "{}: found one column for both x and y, expected two; a text with itself is only learned "
        "with --learn-identical true",
        table_.lines().name()));
  }
  expects_two_texts_ = true;
}

void PairTable::report(const PairBatch& batch, const std::vector<PairProblem>& problems) {
  for (const auto& problem : problems) {
    if (batch.x[problem.row] == batch.y[problem.row]) --copies_;  // counts as a bad line now
    bad_lines_.add(table_.lines().name(), batch.rows.line_number(batch.row_of[problem.row]),
                   problem.message);
  }
}

void PairTable::finish() {
  bad_lines_.summarize();
  progress_.erase();
  bad_lines_.require_use(table_.lines().name(), rows_read_, expects_two_texts_ ? copies_ : 0,
                         "a text with itself, which is only learned with --learn-identical true");
}

void require_two_inputs(const std::string& learn, const std::string& input) {
  if (learn == "-" && input == "-") {
    throw Error(
        "--learn: found standard input, which INPUT is too, expected a file for one of them");
  }
}

void learn_table(Session& stream, const std::string& path, const TableArguments& arguments,
                 bool learns_copies) {
  PairTable table(path, arguments);
  if (!learns_copies) table.expect_two_texts();
  PairBatch batch;
  std::vector<PairProblem> problems;
  // No more than has room, so that pivots follow at the same pairs whoever learns them.
  while (table.read(batch, std::min(kBatchRows, stream.until_refresh()))) {
    stream.learn(batch.pairs(), problems);
    table.report(batch, problems);
  }
  table.finish();
  if (stream.facts().pairs == 0) {
    throw Error(
        fmt::format("{}: found no pair to learn from, expected at least one; a text with "
                    "itself is only learned with --learn-identical true",
                    table.table().lines().name()));
  }
  stream.finish();
}

}  // namespace phsic
