#include "engine/stream_yaml.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>
#include <vector>

#include "core/error.h"
#include "engine/view_spec.h"

namespace phsic {
namespace {

std::string option_notation(const YamlEntry& option) {
  if (option.value.kind != YamlNode::Kind::kText) {
    throw Error(fmt::format("found {} for {}, expected a text or number", option.value.describe(),
                            option.key));
  }
  const auto& text = option.value.text;
  if (text.find('"') != std::string::npos) {
    throw Error(
        fmt::format("found a quotation mark in the value of {}, expected none", option.key));
  }
  if (option.key.find_first_of(",=\"") != std::string::npos) {
    throw Error(fmt::format("found the option \"{}\", expected a name", option.key));
  }
  // A value that was quoted in YAML is quoted here, too: it is a text, whatever it looks like.
  const char* quote = option.value.quoted || text.find(',') != std::string::npos ? "\"" : "";
  return fmt::format("{}={}{}{}", option.key, quote, text, quote);
}

// A list of views as the option takes it (view_spec.h); a view may be the notation of its encoder.
std::string views_notation(const YamlNode& list) {
  if (list.items.empty()) return {};
  auto views = nlohmann::ordered_json::array();
  for (const auto& item : list.items) {
    auto view = nlohmann::ordered_json::object();
    if (item.kind == YamlNode::Kind::kText) {
      view["encoder"] = item.text;
    } else if (item.kind != YamlNode::Kind::kMapping) {
      throw Error(fmt::format("found {} in a list, expected views with encoders", item.describe()));
    }
    for (const auto& entry : item.entries) {
      if (view.contains(entry.key)) {
        throw Error(fmt::format("found {} twice in a view, expected it once", entry.key));
      }
      view[entry.key] = notation_of(entry.value);
    }
    views.push_back(std::move(view));
  }
  try {
    return views.dump();
  } catch (const nlohmann::json::exception&) {
    throw Error("found bytes in the list that are not UTF-8, expected text");
  }
}

}  // namespace

std::string notation_of(const YamlNode& value) {
  if (value.kind == YamlNode::Kind::kText) return value.text;
  std::string name;
  std::vector<std::string> options;
  for (const auto& entry : value.entries) {
    if (entry.key != "name") {
      options.push_back(option_notation(entry));
      continue;
    }
    if (!name.empty()) throw Error("found name twice, expected it once");
    if (entry.value.kind == YamlNode::Kind::kText) name = entry.value.text;
    if (name.find(':') != std::string::npos) {
      throw Error(fmt::format("found the name \"{}\", expected one without a colon", name));
    }
  }
  if (name.empty()) {
    throw Error(fmt::format("found {}, expected a text, or a mapping with a name (of an encoder)",
                            value.describe()));
  }
  return fmt::format("{}{}{}", name, options.empty() ? "" : ":", fmt::join(options, ","));
}

std::string notation_of(const YamlEntry& option) {
  if (option.key != "views") return notation_of(option.value);
  if (option.value.kind != YamlNode::Kind::kList) {
    throw Error(fmt::format("found {}, expected a list of views: lines that begin with \"- \"",
                            option.value.describe()));
  }
  return views_notation(option.value);
}

int line_of_problem(const YamlEntry& option) {
  if (option.key != "views") return option.line;
  YamlNode some = option.value;
  some.items.clear();
  for (const auto& item : option.value.items) {
    some.items.push_back(item);
    try {
      static_cast<void>(parse_views(views_notation(some)));
    } catch (const Error&) {
      return item.line;
    }
  }
  return option.line;
}

std::vector<std::pair<std::string, std::string>> read_stream_yaml(
    const std::string& file, StreamSpec& spec,
    const std::function<bool(const YamlEntry&)>& take_other) {
  std::vector<std::pair<std::string, std::string>> options;
  const auto root = read_yaml(file);
  if (root.kind == YamlNode::Kind::kNothing) return options;
  if (root.kind != YamlNode::Kind::kMapping) {
    throw Error(fmt::format("{}: found {}, expected OPTION: VALUE lines", file, root.describe()));
  }
  std::vector<std::pair<int, std::string>> problems;
  std::set<std::string_view> seen;
  std::vector<const YamlEntry*> entries;
  for (const auto& entry : root.entries) {
    if (seen.insert(entry.key).second) {
      entries.push_back(&entry);
    } else {
      problems.emplace_back(entry.line, fmt::format("{}: found twice, expected once", entry.key));
    }
  }
  std::stable_sort(entries.begin(), entries.end(), [](const auto* a, const auto* b) {
    return order_of(a->key) < order_of(b->key);
  });
  for (const auto* entry : entries) {
    std::string notation;
    const bool is_other = order_of(entry->key) == stream_options().size();
    try {
      if (is_other && take_other && take_other(*entry)) continue;
    } catch (const Error& problem) {
      problems.emplace_back(entry->line, problem.what());
      continue;
    }
    try {
      notation = notation_of(*entry);
    } catch (const Error& problem) {
      problems.emplace_back(line_of_problem(*entry),
                            fmt::format("{}: {}", entry->key, problem.what()));
      continue;
    }
    try {
      spec.set(entry->key, notation);
      options.emplace_back(entry->key, notation);
    } catch (const Error& problem) {
      problems.emplace_back(line_of_problem(*entry), problem.what());
    }
  }
  if (problems.empty()) return options;
  std::sort(problems.begin(), problems.end());
  std::vector<std::string> lines;
  lines.reserve(problems.size());
  for (const auto& [line, what] : problems)
    lines.push_back(fmt::format("{}:{}: {}", file, line, what));
  throw Error(fmt::format("{}", fmt::join(lines, "\n")));
}

}  // namespace phsic
