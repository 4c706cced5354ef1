#include "cli/model_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>
#include <vector>

#include "core/error.h"
#include "engine/stream_yaml.h"
#include "state/stored_options.h"

namespace phsic {
namespace {

const YamlEntry* find_entry(const YamlNode& mapping, std::string_view key) {
  for (const auto& entry : mapping.entries) {
    if (entry.key == key) return &entry;
  }
  return nullptr;
}

// The options of a mapping that say what a stream is.
OptionList options_in(const YamlNode& mapping, const std::string& file,
                      std::vector<std::string>& problems) {
  OptionList options;
  for (const auto& entry : mapping.entries) {
    if (order_of(entry.key) == stream_options().size()) continue;
    try {
      const auto notation = notation_of(entry.value);
      StreamSpec().set(entry.key, notation);
      options.emplace_back(entry.key, notation);
    } catch (const Error& problem) {
      problems.push_back(fmt::format("{}:{}: {}", file, entry.line, problem.what()));
    }
  }
  return options;
}

const YamlNode& choose_stream(const YamlNode& streams, const std::string& file,
                              const std::string& name) {
  if (name.empty() && streams.entries.size() == 1) return streams.entries.front().value;
  if (const auto* found = find_entry(streams, name)) return found->value;
  std::vector<std::string> names;
  for (const auto& entry : streams.entries) names.push_back(entry.key);
  const auto there = fmt::format("{}", fmt::join(names, ", "));
  if (name.empty()) {
    throw Error(
        fmt::format("{}: found a daemon's configuration with the streams {}, expected --stream "
                    "NAME to say which",
                    file, there));
  }
  throw Error(
      fmt::format("{}: found no streams.{}, expected one of its streams: {}", file, name, there));
}

}  // namespace

ModelFile read_model_file(const std::string& file, const std::string& stream) {
  const auto root = read_yaml(file);
  const auto* streams = find_entry(root, "streams");
  if (streams == nullptr) {
    StreamSpec ignored;
    return {read_stream_yaml(file, ignored), false};
  }
  const auto& own = choose_stream(streams->value, file, stream);
  std::vector<std::string> problems;
  OptionList options;
  if (const auto* defaults = find_entry(root, "defaults")) {
    options = options_in(defaults->value, file, problems);
  }
  override_options(options, options_in(own, file, problems));
  if (!problems.empty()) throw Error(fmt::format("{}", fmt::join(problems, "\n")));
  return {options, true};
}

}  // namespace phsic
