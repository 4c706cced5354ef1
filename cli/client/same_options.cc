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
  // One view is the stream that it would be without.
  return spec.views.size() == 1 ? spec.of_view(0) : spec;
}

DecidePlan plan_from(const OptionMap& options) {
  return plan_of(decide_spec_of(decide_options_of({options.begin(), options.end()})),
                 spec_from(options));
}

// Would the stream be another, or be decided about otherwise, if it had the option with this value?
bool makes_a_difference(const OptionMap& present, const std::string& name,
                        const std::string& value) {
  auto changed = present;
  // As with flags and a file: an encoder takes the place of views, and they of it.
  if (name == "views") {
    std::erase_if(changed, [](const auto& option) { return option.first.ends_with("encoder"); });
  } else if (name.ends_with("encoder")) {
    changed.erase("views");
  }
  changed[name] = value;
  try {
    return spec_from(changed) != spec_from(present) || plan_from(changed) != plan_from(present);
  } catch (const Error&) {
    return true;  // a half-life where there is a window, say
  }
}

// What the stream has instead of an option that it was not given: a default, or another cut.
std::string instead_of(const std::string& name, const OptionMap& present) {
  bool is_default = true;
  std::string has(default_of(name).value_or(""));
  if (is_cut_option(name)) {
    is_default = std::none_of(present.begin(), present.end(),
                              [](const auto& option) { return is_cut_option(option.first); });
    has = describe_cut(plan_from(present).cut);
  }
  return fmt::format("{}{}", has.empty() ? "none" : printable(has),
                     is_default ? " (the default)" : "");
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
    const bool is_said = has != present.end();
    if (is_said && value == has->second) continue;
    if (!is_said && is_stream_option(name) && value == default_of(name)) continue;
    if (!makes_a_difference(present, name, value)) continue;
    problems.push_back(
        fmt::format("--{}: found {}, but stream {} of {} has {}; expected the same, or nothing",
                    name == "views" ? "view" : name, value, printable(stream.name), endpoint,
                    is_said ? printable(has->second) : instead_of(name, present)));
  }
  if (!problems.empty()) throw Error(fmt::format("{}", fmt::join(problems, "\n")));
}

}  // namespace phsic
