#include "cli/model_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>
#include <vector>

#include "cli/session/saved_model.h"
#include "core/error.h"
#include "decide/decide_spec.h"
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

// Options of decisions, as they are read. False: the entry is none.
class Decisions {
 public:
  explicit Decisions(OptionList& taken) : taken_(taken) {}

  bool take(const YamlEntry& entry) {
    if (const auto advice = advice_for(entry.key); !advice.empty()) {
      throw Error(fmt::format("{}: {}", entry.key, advice));
    }
    const auto* const known = find_decide_option(entry.key);
    if (known == nullptr) return false;
    const auto notation = decide_notation(*known, entry.value);
    spec_.set(entry.key, notation);
    taken_.emplace_back(entry.key, notation);
    return true;
  }

 private:
  OptionList& taken_;
  DecideSpec spec_;  // finds what does not go together
};

// The options of a mapping that say what a stream is and how it is decided about its pairs.
ModelFile options_in(const YamlNode& mapping, const std::string& file,
                     std::vector<std::string>& problems) {
  ModelFile said;
  Decisions decisions(said.decisions);
  for (const auto& entry : mapping.entries) {
    try {
      if (const auto* const known = find_decide_option(entry.key); known && !known->is_served) {
        throw Error(fmt::format("{}: {}", entry.key, kNotServed));
      }
      if (decisions.take(entry) || order_of(entry.key) == stream_options().size()) continue;
      const auto notation = notation_of(entry);
      StreamSpec().set(entry.key, notation);
      said.options.emplace_back(entry.key, notation);
    } catch (const Error& problem) {
      problems.push_back(fmt::format("{}:{}: {}", file, line_of_problem(entry), problem.what()));
    }
  }
  return said;
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
  ModelFile said;
  if (streams == nullptr) {
    StreamSpec ignored;
    Decisions decisions(said.decisions);
    said.options = read_stream_yaml(file, ignored,
                                    [&](const YamlEntry& entry) { return decisions.take(entry); });
    return said;
  }
  const auto& own = choose_stream(streams->value, file, stream);
  std::vector<std::string> problems;
  if (const auto* defaults = find_entry(root, "defaults")) {
    said = options_in(defaults->value, file, problems);
  }
  const auto of_stream = options_in(own, file, problems);
  override_options(said.options, of_stream.options);
  override_decisions(said.decisions, of_stream.decisions);
  if (!problems.empty()) throw Error(fmt::format("{}", fmt::join(problems, "\n")));
  said.is_of_daemon = true;
  return said;
}

}  // namespace phsic
