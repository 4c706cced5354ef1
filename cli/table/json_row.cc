#include "cli/table/json_row.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "core/error.h"
#include "wire/printable.h"

namespace phsic {
namespace {

namespace ondemand = simdjson::ondemand;
using ondemand::json_type;

std::string_view describe(json_type type) {
  switch (type) {
    case json_type::array: return "an array";
    case json_type::object: return "an object";
    case json_type::number: return "a number";
    case json_type::string: return "a string";
    case json_type::boolean: return "a boolean";
    case json_type::null: return "null";
  }
  return "something else";
}

std::string_view expected_of(const Column& column) {
  return column.text_only ? "a string" : "a string, a number, a boolean or an array";
}

bool is_fit(json_type type, const Column& column) {
  if (type == json_type::string) return true;
  return !column.text_only && type != json_type::object && type != json_type::null;
}

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

// simdjson's raw texts reach to the next token.
std::string_view trim_end(std::string_view text) {
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

char first_of(std::string_view text) {
  const auto* const first = std::find_if_not(text.begin(), text.end(), is_space);
  return first == text.end() ? '\0' : *first;
}

}  // namespace

JsonRow::JsonRow(const TableOptions& options)
    : columns_(options.columns),
      all_fields_(options.all_fields),
      added_(options.added),
      members_(options.columns.size()) {
  if (all_fields_ && columns_[0].name == columns_[1].name) {
    throw Error(fmt::format("member {} is wanted as the item and as its candidates",
                            quote(columns_[0].name)));
  }
}

const AddedColumn* JsonRow::parse(RowBatch& batch, std::size_t begin) {
  const std::string_view body = batch.last_line().substr(begin);
  if (!check(batch, body)) return nullptr;
  batch.mark_object();
  std::fill(members_.begin(), members_.end(), Member{});
  list_.clear();
  problem_.clear();
  const AddedColumn* const clash = walk(batch, body);
  if (problem_.empty()) look_for_missing();
  if (!problem_.empty()) {
    if (problem_.starts_with("no member")) {
      const std::string found = members(body);
      if (!found.empty()) problem_ += ", found " + found;
    }
    batch.set_problem(problem_);
    return clash;
  }
  for (std::size_t c = 0; c < (all_fields_ ? 1 : columns_.size()); ++c) {
    batch.add_field(members_[c].text);
  }
  for (const RowBatch::Span item : list_) batch.add_field(item);
  return clash;
}

// Whether the line is a JSON object. The parser that takes members out looks at nothing else, so
// this is where the rest is checked.
bool JsonRow::check(RowBatch& batch, std::string_view body) {
  if (trim_end(body).empty()) {
    batch.set_problem("empty line");
    return false;
  }
  simdjson::dom::element root;
  const simdjson::error_code error = whole_.parse(body.data(), body.size(), false).get(root);
  // simdjson refuses whole numbers of more than 64 bits; as part of a line they do no harm.
  const bool is_json =
      error == simdjson::SUCCESS ||
      // It takes a zero byte, which no JSON has, for the end.
      (error == simdjson::NUMBER_ERROR && body.find('\0') == std::string_view::npos &&
       nlohmann::json::accept(body.begin(), body.end()));
  if (is_json && first_of(body) == '{') return true;
  if (is_json) {
    batch.set_problem(fmt::format("not a JSON object: begins with '{}'", first_of(body)));
    return false;
  }
  const std::size_t good = utf8_prefix(body);
  if (good < body.size()) {
    const std::size_t before = batch.last_line().size() - body.size();
    batch.set_problem(fmt::format("broken UTF-8 at byte {}", before + good + 1));
  } else {
    batch.set_problem(fmt::format("not a JSON object: {}", simdjson::error_message(error)));
  }
  return false;
}

const AddedColumn* JsonRow::walk(RowBatch& batch, std::string_view body) {
  ondemand::document document;
  ondemand::object object;
  const simdjson::padded_string_view padded(body.data(), body.size(),
                                            body.size() + RowBatch::kPadding);
  simdjson::error_code error = parts_.iterate(padded).get(document);
  if (!error) error = document.get_object().get(object);
  if (error) {
    complain(fmt::format("not a JSON object: {}", simdjson::error_message(error)));
    return nullptr;
  }
  // Goes on to the end, also after a problem, to see what the output would add.
  const AddedColumn* clash = nullptr;
  for (auto member : object) {
    ondemand::field field;
    std::string_view key;
    error = std::move(member).get(field);
    if (!error) error = field.unescaped_key().get(key);
    if (error) {
      complain(fmt::format("not a JSON object: {}", simdjson::error_message(error)));
      return clash;
    }
    const auto added = std::find_if(added_.begin(), added_.end(),
                                    [&](const AddedColumn& column) { return column.name == key; });
    if (clash == nullptr && added != added_.end()) clash = &*added;
    take(batch, key, field.value());
  }
  return clash;
}

void JsonRow::take(RowBatch& batch, std::string_view key, ondemand::value value) {
  const auto is_named = [&](const Column& column) { return column.name == key; };
  const auto first = std::find_if(columns_.begin(), columns_.end(), is_named);
  if (first == columns_.end()) return;
  json_type type{};
  if (value.type().get(type)) return;
  if (members_[static_cast<std::size_t>(first - columns_.begin())].seen) {
    complain(fmt::format("member {} appears twice", quote(key)));
    return;
  }
  // A member may be wanted more than once; its value can be taken only once.
  std::optional<RowBatch::Span> text;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    if (!is_named(columns_[c])) continue;
    members_[c].seen = true;
    if (type == json_type::null && !columns_[c].required) continue;
    if (all_fields_ && c == 1) {
      if (type == json_type::array) {
        take_list(batch, value);
      } else {
        complain(fmt::format("member {} is {}, expected an array", quote(key), describe(type)));
      }
    } else if (!is_fit(type, columns_[c])) {
      complain(fmt::format("member {} is {}, expected {}", quote(key), describe(type),
                           expected_of(columns_[c])));
    } else {
      if (!text) text = text_of(batch, value, type);
      members_[c].text = *text;
    }
  }
}

void JsonRow::take_list(RowBatch& batch, ondemand::value value) {
  ondemand::array items;
  if (value.get_array().get(items)) return;
  std::size_t number = 0;
  for (auto item : items) {
    ++number;
    json_type type{};
    if (item.type().get(type)) return;
    if (is_fit(type, columns_[1])) {
      list_.push_back(text_of(batch, item.value_unsafe(), type));
    } else {
      complain(fmt::format("item {} of member {} is {}, expected {}", number,
                           quote(columns_[1].name), describe(type), expected_of(columns_[1])));
    }
  }
  if (number == 0) complain(fmt::format("member {} is empty", quote(columns_[1].name)));
}

// A string's text goes into the arena, which has room for it without moving under the parser; other
// values are given where they stand in the line.
RowBatch::Span JsonRow::text_of(RowBatch& batch, ondemand::value value, json_type type) {
  std::string_view text;
  if (type == json_type::string) {
    const simdjson::error_code error = value.get_string().get(text);
    // Some versions of simdjson let half of a surrogate pair pass.
    if (error || utf8_prefix(text) < text.size()) complain("half of a surrogate pair in a string");
    return batch.add_text(text);
  }
  if (type == json_type::array) {
    ondemand::array array;
    simdjson::error_code error = value.get_array().get(array);
    if (!error) error = array.raw_json().get(text);
    if (error) complain(simdjson::error_message(error));
  } else {
    text = value.raw_json_token();
  }
  return batch.place_of(trim_end(text));
}

void JsonRow::look_for_missing() {
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    if (!columns_[c].required || members_[c].seen) continue;
    complain(fmt::format("no member {}", quote(columns_[c].name)));
    return;
  }
}

void JsonRow::complain(std::string problem) {
  if (problem_.empty()) problem_ = std::move(problem);
}

std::string JsonRow::members(std::string_view line) {
  const simdjson::padded_string padded(line);
  simdjson::dom::object object;
  if (whole_.parse(padded).get(object)) return {};
  std::vector<std::string_view> names;
  for (const auto member : object) names.push_back(member.key);
  return quote(names);
}

}  // namespace phsic
