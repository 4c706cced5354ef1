#include "cli/client/same_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>

#include "core/error.h"
#include "decide/memory_replay.h"
#include "wire/printable.h"

namespace phsic {
namespace {

using OptionMap = std::map<std::string, std::string>;

// The default of an option, in words; none if there is no such option.
std::optional<std::string_view> default_of(std::string_view name) {
  for (const auto& known : stream_options()) {
    if (known.name == name) return known.fallback;
  }
  for (const auto& known : decide_options()) {
    if (known.name == name) return known.fallback;
  }
  return std::nullopt;
}

bool is_stream_option(std::string_view name) { return order_of(name) < stream_options().size(); }

// A daemon's stream has options that make no difference to its scores; they are no part of it.
StreamSpec spec_from(const OptionMap& options) {
  StreamSpec spec;
  for (const auto& [name, value] : general_first({options.begin(), options.end()})) {
    if (is_stream_option(name)) spec.set(name, value);
  }
  return spec;
}

DecidePlan plan_from(const OptionMap& options) {
  return plan_of(decide_spec_of(decide_options_of({options.begin(), options.end()})),
                 spec_from(options));
}

// Would the stream be another, or be decided about otherwise, if it had the option with this value?
bool makes_a_difference(const OptionMap& present, const std::string& name,
                        const std::string& value) {
  auto changed = present;
  changed[name] = value;
  try {
    return spec_from(changed) != spec_from(present) || plan_from(changed) != plan_from(present);
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

DecidePlan plan_of(const RemoteStream& stream) {
  return plan_from(OptionMap(stream.options.begin(), stream.options.end()));
}

void require_same_options(const OptionList& wanted, const RemoteStream& stream,
                          const std::string& endpoint) {
  const OptionMap present(stream.options.begin(), stream.options.end());
  OptionMap last;
  for (const auto& [name, value] : wanted) last[name] = value;
  std::vector<std::string> problems;
  for (const auto& [name, value] : last) {
    const auto has = present.find(name);
    const auto fallback = default_of(name).value_or("");
    auto there = has != present.end() ? has->second : std::string(fallback);
    const bool is_said = has != present.end() || is_stream_option(name);
    if ((is_said && value == there) || !makes_a_difference(present, name, value)) continue;
    if (there.empty()) there = "none";
    problems.push_back(
        fmt::format("--{}: found {}, but stream {} of {} has {}{}; expected the same, or nothing",
                    name, value, printable(stream.name), endpoint, printable(there),
                    has != present.end() ? "" : " (the default)"));
  }
  if (!problems.empty()) throw Error(fmt::format("{}", fmt::join(problems, "\n")));
}

}  // namespace phsic
