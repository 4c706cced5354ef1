#include "daemon/override.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "core/spectrum.h"
#include "daemon/config_options.h"

namespace phsic {
namespace {

template <class Option>
bool has_list(std::span<const Option> options, std::string_view name) {
  return std::any_of(options.begin(), options.end(), [&](const auto& option) {
    return option.name == name && option.texts != nullptr;
  });
}

YamlNode text_node(std::string_view text) {
  YamlNode node;
  node.kind = YamlNode::Kind::kText;
  node.line = Problems::kCommandLine;
  node.text = text;
  return node;
}

// "a,b" of a list; nothing is the empty list.
YamlNode list_node(std::string_view text) {
  YamlNode node;
  node.kind = YamlNode::Kind::kList;
  while (!text.empty()) {
    const auto comma = std::min(text.find(','), text.size());
    node.items.push_back(text_node(text.substr(0, comma)));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return node;
}

YamlEntry* find_entry(YamlNode& mapping, std::string_view key) {
  const auto found = std::find_if(mapping.entries.begin(), mapping.entries.end(),
                                  [&](const auto& entry) { return entry.key == key; });
  return found == mapping.entries.end() ? nullptr : &*found;
}

// Nothing can become a mapping; anything else is left as it is, and complained about later.
bool is_mapping_now(YamlNode& node) {
  if (node.kind == YamlNode::Kind::kNothing) node.kind = YamlNode::Kind::kMapping;
  return node.kind == YamlNode::Kind::kMapping;
}

void put(YamlNode& mapping, std::string_view key, YamlNode value) {
  std::erase_if(mapping.entries, [&](const auto& entry) {
    return entry.key == key ||
           (entry.line != Problems::kCommandLine && replaces(key, value, entry.key));
  });
  mapping.entries.push_back({std::string(key), Problems::kCommandLine, std::move(value)});
}

void put_stream_option(YamlNode& mapping, std::string_view option, std::string_view text) {
  put(mapping, option, has_list(serving_options(), option) ? list_node(text) : text_node(text));
}

// "chat.half-life", where a name may have dots and an option has none.
void apply_to_stream(YamlNode& root, std::string_view rest, const Override& setting,
                     Problems& problems) {
  const auto dot = rest.rfind('.');
  if (dot == std::string_view::npos) {
    problems.add(Problems::kCommandLine, setting.path,
                 "found no option, expected streams.NAME.OPTION");
    return;
  }
  auto* streams = find_entry(root, "streams");
  // Without any stream the file is complained about anyway.
  if (streams == nullptr || streams->value.kind != YamlNode::Kind::kMapping) return;
  auto* stream = find_entry(streams->value, rest.substr(0, dot));
  if (stream == nullptr) {
    problems.add(
        Problems::kCommandLine, setting.path,
        fmt::format("found no stream \"{}\" in the file, expected one", rest.substr(0, dot)));
    return;
  }
  if (is_mapping_now(stream->value)) {
    put_stream_option(stream->value, rest.substr(dot + 1), setting.value);
  }
}

void apply_to_defaults(YamlNode& root, std::string_view option, std::string_view text) {
  if (find_entry(root, "defaults") == nullptr) {
    root.entries.push_back({"defaults", Problems::kCommandLine, {}});
  }
  auto& defaults = find_entry(root, "defaults")->value;
  if (is_mapping_now(defaults)) put_stream_option(defaults, option, text);
}

void apply(YamlNode& root, const Override& setting, Problems& problems) {
  constexpr std::string_view kStreams = "streams.";
  constexpr std::string_view kDefaults = "defaults.";
  const std::string_view path = setting.path;
  if (!is_utf8(setting.path) || !is_utf8(setting.value)) {
    problems.add(Problems::kCommandLine, is_utf8(setting.path) ? setting.path : "?",
                 "found bytes that are no text, expected UTF-8");
  } else if (path.starts_with(kStreams)) {
    apply_to_stream(root, path.substr(kStreams.size()), setting, problems);
  } else if (path.starts_with(kDefaults)) {
    apply_to_defaults(root, path.substr(kDefaults.size()), setting.value);
  } else if (path == "streams" || path == "defaults") {
    problems.add(Problems::kCommandLine, setting.path,
                 "found no option, expected streams.NAME.OPTION or defaults.OPTION");
  } else if (path == "subscribe") {
    problems.add(Problems::kCommandLine, setting.path,
                 "found a subscription, expected it in the file");
  } else {
    put(root, path,
        has_list(daemon_options(), path) ? list_node(setting.value) : text_node(setting.value));
  }
}

}  // namespace

bool replaces(std::string_view option, const YamlNode& value, std::string_view earlier) {
  if (option == earlier || (is_cut_option(option) && is_cut_option(earlier))) return true;
  if (option == "encoder") {
    return earlier == "x-encoder" || earlier == "y-encoder" || earlier == "views";
  }
  if (option == "views" && !value.items.empty()) return earlier.ends_with("encoder");
  if (option == "kernel") return earlier == "x-kernel" || earlier == "y-kernel";
  const bool forgets = value.text != "never";
  return forgets && ((option == "half-life" && earlier == "window") ||
                     (option == "window" && earlier == "half-life"));
}

void apply_overrides(YamlNode& root, const std::vector<Override>& overrides, Problems& problems) {
  if (overrides.empty() || !is_mapping_now(root)) return;
  for (const auto& setting : overrides) apply(root, setting, problems);
}

}  // namespace phsic
