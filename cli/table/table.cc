#include "cli/table/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "cli/table/json_row.h"
#include "core/error.h"
#include "wire/printable.h"

namespace phsic {
namespace {

// A file that begins with more empty lines is taken for TSV.
constexpr std::size_t kMostBlankLines = 1000;
// The place of an optional column that is not there.
constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);

std::size_t mark_size(std::string_view first_line) {
  return first_line.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
}

std::string_view without_return(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

bool is_number(std::string_view name) {
  return !name.empty() &&
         std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// The place counted from 0. REQUIRES: is_number(name).
std::optional<std::size_t> place_of_number(std::string_view name) {
  std::size_t number = 0;
  const auto read = std::from_chars(name.data(), name.data() + name.size(), number);
  if (read.ec != std::errc() || number == 0) return std::nullopt;
  return number - 1;
}

std::vector<std::string_view> split(std::string_view line) {
  std::vector<std::string_view> fields;
  for (std::size_t tab = line.find('\t'); tab != line.npos; tab = line.find('\t')) {
    fields.push_back(line.substr(0, tab));
    line.remove_prefix(tab + 1);
  }
  fields.push_back(line);
  return fields;
}

constexpr std::string_view kTooLong = "longer than 64 MiB";
static_assert(kMaxLine == std::size_t{64} << 20);

}  // namespace

Table::Table(const std::string& path, TableOptions options)
    : lines_(path, options.following), options_(std::move(options)), format_(options_.format) {
  look_at_first_lines();
}

Table::~Table() = default;

void Table::look_at_first_lines() {
  std::string_view body;  // of the first line that is not blank
  std::string_view line;
  while (body.empty() && held_.size() < kMostBlankLines && lines_.next(line)) {
    held_.push_back({std::string(line), lines_.was_too_long()});
    const std::size_t mark = held_.size() == 1 ? mark_size(line) : 0;
    body = without_return(std::string_view(held_.back().text).substr(mark));
    if (options_.header) break;
  }
  if (format_ == TableFormat::kAuto) {
    // Where there is nothing to look at, the wanted names tell.
    const bool is_named = !options_.header && !options_.all_fields &&
                          std::any_of(options_.columns.begin(), options_.columns.end(),
                                      [](const Column& column) { return !is_number(column.name); });
    const bool is_jsonl = body.empty() ? is_named : body.front() == '{';
    format_ = is_jsonl ? TableFormat::kJsonl : TableFormat::kTsv;
  }
  if (format_ == TableFormat::kTsv) {
    if (options_.header) take_header(body);
    place_columns(body);
    return;
  }
  if (options_.header) fail("a header is expected, but the table is JSONL, which has none");
  for (Column& column : options_.columns) {
    if (!column.member.empty()) column.name = column.member;
  }
  json_ = std::make_unique<JsonRow>(options_);
  for (const Column& column : options_.columns) {
    if (!is_number(column.name)) continue;
    fail(fmt::format("column {} is a number, but the table is JSONL; expected a member's name: {}",
                     column.name, json_->members(body)));
  }
}

void Table::take_header(std::string_view body) {
  if (body.empty()) {
    const bool is_too_long = !held_.empty() && held_.front().is_too_long;
    fail(fmt::format("the first line is {}, expected a header", is_too_long ? kTooLong : "empty"));
  }
  header_ = held_.front().text;
  next_held_ = 1;
  line_number_ = 1;
}

void Table::place_columns(std::string_view first_line) {
  const std::vector<std::string_view> first = split(first_line);
  if (options_.header) {
    for (const auto& [name, advice] : options_.added) {
      if (std::find(first.begin(), first.end(), name) == first.end()) continue;
      fail(fmt::format("the header has a column {} already; {}", quote(name), advice));
    }
  }
  if (options_.all_fields) {
    needed_ = 2;
    looked_at_ = kNowhere;
    return;
  }
  const auto open = options_.header ? open_places(first) : std::map<std::string, std::size_t>();
  for (const Column& column : options_.columns) {
    const std::size_t place = !options_.header        ? find_by_number(column, first.size())
                              : column.member.empty() ? find_in_header(column, first)
                                                      : open.at(column.member);
    places_.push_back(place);
    if (place == kNowhere) continue;
    looked_at_ = std::max(looked_at_, place + 1);
    if (column.required) needed_ = std::max(needed_, place + 1);
  }
}

// The places in a header of the columns that the user left open, by their members: the first places
// that no other column takes.
std::map<std::string, std::size_t> Table::open_places(
    const std::vector<std::string_view>& names) const {
  std::vector<bool> taken(names.size());
  for (const Column& column : options_.columns) {
    if (!column.member.empty()) continue;
    const std::size_t place = find_in_header(column, names);
    if (place != kNowhere) taken[place] = true;
  }
  std::map<std::string, std::size_t> places;
  for (const Column& column : options_.columns) {
    if (column.member.empty() || places.contains(column.member)) continue;
    const auto free = std::find(taken.begin(), taken.end(), false);
    if (free == taken.end()) {
      fail(fmt::format("no column is left for {}, found {}", column.member, quote(names)));
    }
    *free = true;
    places[column.member] = static_cast<std::size_t>(free - taken.begin());
  }
  return places;
}

std::size_t Table::find_by_number(const Column& column, std::size_t count) const {
  if (!is_number(column.name)) {
    fail(
        fmt::format("column {} is a name, but the table has no header; expected a number from 1 "
                    "to {}, or --header if the first line has the names",
                    quote(column.name), count));
  }
  const std::optional<std::size_t> place = place_of_number(column.name);
  if (!place) fail(fmt::format("column {}, expected a number from 1 to {}", column.name, count));
  return *place;
}

std::size_t Table::find_in_header(const Column& column,
                                  const std::vector<std::string_view>& names) const {
  const auto found = std::find(names.begin(), names.end(), column.name);
  if (found != names.end()) {
    if (std::find(found + 1, names.end(), column.name) != names.end()) {
      fail(fmt::format("column {} appears twice in the header; take one by its number",
                       quote(column.name)));
    }
    return static_cast<std::size_t>(found - names.begin());
  }
  if (is_number(column.name)) {
    const std::size_t place = find_by_number(column, names.size());
    if (place < names.size()) return place;
  }
  if (!column.required) return kNowhere;
  fail(fmt::format("no column {} in the header, expected one of {}", quote(column.name),
                   quote(names)));
}

bool Table::is_same_column(std::size_t a, std::size_t b) const {
  if (format_ == TableFormat::kJsonl) return options_.columns[a].name == options_.columns[b].name;
  return places_[a] == places_[b];
}

std::size_t Table::read(RowBatch& batch, std::size_t max_rows, Wait wait) {
  if (broken_) std::rethrow_exception(std::exchange(broken_, nullptr));
  batch.clear();
  const auto wants_more = [&] {
    if (batch.size() == 0) return max_rows > 0;
    return batch.size() < max_rows && batch.bytes() < kBatchBytes &&
           (wait == Wait::kForAll || ready());
  };
  try {
    Line line;
    while (wants_more() && next_row(line)) add_row(batch, line);
  } catch (const Error&) {
    if (batch.size() == 0) throw;
    broken_ = std::current_exception();
  }
  return batch.size();
}

void Table::add_row(RowBatch& batch, const Line& line) {
  batch.add_row(line.text, line_number_);
  if (line.is_too_long) {
    batch.set_problem(kTooLong);
    return;
  }
  const std::size_t begin = line_number_ == 1 ? mark_size(line.text) : 0;
  if (format_ == TableFormat::kTsv) {
    parse_tsv(batch, without_return(batch.last_line().substr(begin)));
    return;
  }
  const AddedColumn* const clash = json_->parse(batch, begin);
  if (clash == nullptr) return;
  batch.drop_last_row();
  throw Error(fmt::format("{}:{}: there is a member {} already; {}", lines_.name(), line_number_,
                          quote(clash->name), clash->advice));
}

// REQUIRES: `body` is part of the batch's last line.
void Table::parse_tsv(RowBatch& batch, std::string_view body) {
  spans_.clear();
  std::string_view rest = body;
  while (spans_.size() < looked_at_) {
    const std::size_t tab = rest.find('\t');
    spans_.push_back(batch.place_of(rest.substr(0, tab)));
    if (tab == rest.npos) break;
    rest.remove_prefix(tab + 1);
  }
  if (spans_.size() < needed_) {
    batch.set_problem(body.empty() ? "empty line"
                                   : fmt::format("{} column{}, expected at least {}", spans_.size(),
                                                 spans_.size() == 1 ? "" : "s", needed_));
    return;
  }
  if (options_.all_fields) {
    for (const RowBatch::Span span : spans_) batch.add_field(span);
  }
  for (const std::size_t place : places_) {
    batch.add_field(place < spans_.size() ? spans_[place] : RowBatch::Span{});
  }
  const std::size_t row = batch.size() - 1;
  for (std::size_t c = 0; c < batch.field_count(row); ++c) {
    const std::string_view field = batch.field(row, c);
    const std::size_t good = utf8_prefix(field);
    if (good == field.size()) continue;
    const auto before = static_cast<std::size_t>(field.data() - batch.last_line().data());
    batch.set_problem(fmt::format("broken UTF-8 at byte {}", before + good + 1));
    return;
  }
}

bool Table::next_row(Line& line) {
  if (next_held_ < held_.size()) {
    const HeldLine& held = held_[next_held_++];
    line = {held.text, held.is_too_long};
  } else {
    held_.clear();
    next_held_ = 0;
    if (!lines_.next(line.text)) return false;
    line.is_too_long = lines_.was_too_long();
  }
  ++line_number_;
  return true;
}

bool Table::ready() { return next_held_ < held_.size() || lines_.ready(); }

void Table::fail(const std::string& why) const {
  throw Error(fmt::format("{}: {}", lines_.name(), why));
}

}  // namespace phsic
