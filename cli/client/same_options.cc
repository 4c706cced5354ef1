#include "cli/client/same_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "core/error.h"
#include "wire/printable.h"

namespace phsic {
namespace {

using OptionMap = std::map<std::string, std::string>;

const StreamOption* find_option(std::string_view name) {
  const auto all = stream_options();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const StreamOption& known) { return known.name == name; });
  return found == all.end() ? nullptr : &*found;
}

// A daemon's stream has options that make no difference to its scores; they are no part of it.
StreamSpec spec_from(const OptionMap& options) {
  StreamSpec spec;
  for (const auto& [name, value] : general_first({options.begin(), options.end()})) {
    if (find_option(name) != nullptr) spec.set(name, value);
  }
  return spec;
}

// Would the stream be another if it had the option with this value?
bool makes_a_difference(const OptionMap& present, const std::string& name,
                        const std::string& value) {
  auto changed = present;
  changed[name] = value;
  try {
    return spec_from(changed) != spec_from(present);
  } catch (const Error&) {
    return true;  // a half-life where there is a window, say
  }
}

}  // namespace

OptionList general_first(OptionList options) {
  std::stable_sort(options.begin(), options.end(), [](const auto& a, const auto& b) {
    return order_of(a.first) < order_of(b.first);
  });
  return options;
}

StreamSpec spec_of(const RemoteStream& stream) {
  return spec_from(OptionMap(stream.options.begin(), stream.options.end()));
}

void require_same_options(const OptionList& wanted, const RemoteStream& stream,
                          const std::string& endpoint) {
  const OptionMap present(stream.options.begin(), stream.options.end());
  OptionMap last;
  for (const auto& [name, value] : wanted) last[name] = value;
  std::vector<std::string> problems;
  for (const auto& [name, value] : last) {
    const auto* option = find_option(name);
    const auto has = present.find(name);
    const auto there = has != present.end() ? has->second
                       : option != nullptr  ? std::string(option->fallback)
                                            : std::string();
    if (value == there || !makes_a_difference(present, name, value)) continue;
    problems.push_back(
        fmt::format("--{}: found {}, but stream {} of {} has {}{}; expected the same, or nothing",
                    name, value, printable(stream.name), endpoint, printable(there),
                    has != present.end() ? "" : " (the default)"));
  }
  if (!problems.empty()) throw Error(fmt::format("{}", fmt::join(problems, "\n")));
}

}  // namespace phsic
