#include "daemon/config_change.h"

#include <fmt/format.h>

#include <algorithm>

#include "daemon/config_options.h"

namespace phsic {
namespace {

constexpr std::string_view kChanged = "found a change, expected none while the daemon runs";

const std::string* written(const StreamSettings& stream, std::string_view option) {
  for (const auto& [name, value] : stream.options) {
    if (name == option) return &value;
  }
  return nullptr;
}

bool is_written_alike(const StreamSettings& a, const StreamSettings& b, std::string_view option) {
  const auto* left = written(a, option);
  const auto* right = written(b, option);
  return left == right || (left != nullptr && right != nullptr && *left == *right);
}

void compare_specs(const StreamSettings& running, const StreamSettings& wanted,
                   std::vector<std::string>& refused) {
  auto expected = running.spec;
  expected.refresh_pairs = wanted.spec.refresh_pairs;
  if (expected == wanted.spec) return;
  for (const auto& option : stream_options()) {
    if (stream_option_reloads(option.name)) continue;
    if (is_written_alike(running, wanted, option.name)) continue;
    const char* advice = option.name != "views" ? ""
                                                : "; for other views restart it, with a state that "
                                                  "`phsic state rebuild` has made";
    refused.push_back(
        fmt::format("streams.{}.{}: {}{}", running.name, option.name, kChanged, advice));
  }
}

void compare_streams(const StreamSettings& running, const StreamSettings& wanted,
                     std::vector<std::string>& refused) {
  compare_specs(running, wanted, refused);
  // All but the window of duplicates may change.
  if (running.decide.duplicate_window != wanted.decide.duplicate_window) {
    refused.push_back(fmt::format("streams.{}.duplicate-window: {}", running.name, kChanged));
  }
  for (const auto& option : serving_options()) {
    if (option.reloads || option.same(running, wanted)) continue;
    refused.push_back(fmt::format("streams.{}.{}: {}", running.name, option.name, kChanged));
  }
}

}  // namespace

std::vector<std::string> refused_changes(const Config& running, const Config& wanted) {
  std::vector<std::string> refused;
  for (const auto& option : daemon_options()) {
    if (option.reloads || option.same == nullptr || option.same(running, wanted)) continue;
    refused.push_back(fmt::format("{}: {}", option.name, kChanged));
  }
  for (const auto& stream : running.streams) {
    const auto found = std::find_if(wanted.streams.begin(), wanted.streams.end(),
                                    [&](const auto& other) { return other.name == stream.name; });
    if (found != wanted.streams.end()) {
      compare_streams(stream, *found, refused);
    } else {
      refused.push_back(
          fmt::format("streams.{}: found no such stream, expected it to stay while the daemon runs",
                      stream.name));
    }
  }
  return refused;
}

}  // namespace phsic
