#include "cli/verbs/stats_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "core/error.h"
#include "wire/printable.h"
#include "wire/statistics.h"

namespace phsic {
namespace {

namespace dom = simdjson::dom;

using Rows = std::vector<std::vector<std::string>>;

std::string bytes_text(double bytes) {
  constexpr double kKiB = 1024;
  if (bytes < kKiB) return fmt::format("{:.0f} B", bytes);
  if (bytes < kKiB * kKiB) return fmt::format("{:.1f} KiB", bytes / kKiB);
  return fmt::format("{:.1f} MiB", bytes / (kKiB * kKiB));
}

std::string duration_text(double seconds) {
  constexpr double kMinute = 60;
  constexpr double kLongest = 1e9;
  if (seconds < 1) return fmt::format("{:.3g} ms", 1000 * seconds);
  if (seconds < kMinute || seconds > kLongest) return fmt::format("{:.3g} s", seconds);
  const auto minutes = static_cast<std::int64_t>(seconds / kMinute);
  if (minutes < 60) {
    return fmt::format("{} min {:02} s", minutes, static_cast<std::int64_t>(seconds) % 60);
  }
  return fmt::format("{} h {:02} min", minutes / 60, minutes % 60);
}

// Code points, which is near enough to the places they take.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U;
  }));
}

// The members of objects by name, in the order in which the first that has one has it.
class Columns {
 public:
  void add(std::string_view title, const JsonObject& object) {
    titles_.emplace_back(printable(title));
    add_members(object.members(), "");
  }

  [[nodiscard]] std::string text() const {
    Rows rows(1, {""});
    rows[0].insert(rows[0].end(), titles_.begin(), titles_.end());
    for (const auto& name : names_) {
      auto& row = rows.emplace_back(1, name);
      for (std::size_t i = 0; i < titles_.size(); ++i) {
        const auto cell = cells_.find({name, i});
        row.push_back(cell == cells_.end() ? "-" : cell->second);
      }
    }
    return align(rows);
  }

 private:
  // How a statistic is called on the screen. `duplicates` counts ids that came before, beside which
  // `reasons duplicate` would seem to contradict it.
  static std::string title_of(std::string_view prefix, std::string_view name) {
    if (!prefix.empty()) return fmt::format("{} {}", printable(prefix), printable(name));
    return name == "duplicates" ? "known ids" : printable(name);
  }

  // An object's members have its name before theirs: "latency p50".
  void add_members(const dom::object& object, std::string_view prefix) {
    for (const auto [name, value] : object) {
      dom::object inner;
      if (prefix.empty() && value.get(inner) == simdjson::SUCCESS) {
        add_members(inner, name);
        continue;
      }
      // Quantiles have the unit of what they are of; the state's statistics have their own.
      const auto statistic = unit_of_statistic(prefix) == Unit::kNone ? name : prefix;
      const auto title = title_of(prefix, name);
      const auto [cell, is_new] = cells_.insert({{title, titles_.size() - 1}, ""});
      if (is_new) cell->second = describe_value(statistic, value);
      if (std::find(names_.begin(), names_.end(), title) == names_.end()) names_.push_back(title);
    }
  }

  std::vector<std::string> titles_;
  std::vector<std::string> names_;
  std::map<std::pair<std::string, std::size_t>, std::string> cells_;  // by name and column
};

}  // namespace

std::string align(const Rows& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t c = 0; c < row.size(); ++c) {
      widths[c] = std::max(widths[c], width_of(row[c]));
    }
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t c = 0; c < row.size(); ++c) {
      const std::string space(widths[c] - width_of(row[c]), ' ');
      line += c == 0 ? row[c] + space : "  " + space + row[c];
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

std::string describe_value(std::string_view name, const dom::element& value) {
  std::int64_t whole = 0;
  double number = 0;
  std::string_view text;
  if (value.get(text) == simdjson::SUCCESS) return printable(text);
  if (value.get(number) == simdjson::SUCCESS) {
    const auto unit = unit_of_statistic(name);
    if (unit == Unit::kBytes) return bytes_text(number);
    if (unit == Unit::kSeconds) return duration_text(number);
    if (value.get(whole) == simdjson::SUCCESS) return fmt::format("{}", whole);
    return fmt::format("{:.4g}", number);
  }
  return value.is_null() ? "-" : printable(simdjson::minify(value));
}

std::string describe_stats(const JsonObject& answer) {
  Columns streams;
  const auto all = answer.object("streams");
  for (const auto [name, stream] : all.members()) {
    dom::object members;
    if (stream.get(members) != simdjson::SUCCESS) {
      refuse_member("streams", describe(stream.type()), "an object for each stream");
    }
    streams.add(name, JsonObject(members));
  }
  std::string text = streams.text();
  if (const auto daemon = answer.find_object("daemon")) {
    Columns columns;
    columns.add("daemon", *daemon);
    text += '\n' + columns.text();
  }
  return text;
}

}  // namespace phsic
