#include "cli/session/describe_damage.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "wire/printable.h"

namespace phsic {
namespace {

constexpr std::size_t kMostNamed = 4;
constexpr double kWorthNaming = 0.01;

}  // namespace

std::string describe_damage(const DamageFacts& damage) {
  auto kinds = damage.kinds;
  std::stable_sort(kinds.begin(), kinds.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  auto text = fmt::format("{:.0f}% looks damaged", 100 * damage.junk_share);
  const char* before = ": ";
  for (std::size_t k = 0; k < std::min(kinds.size(), kMostNamed); ++k) {
    const auto& [name, share] = kinds[k];
    if (share < kWorthNaming) break;
    text += fmt::format("{}{} {:.0f}%", before, printable(name), 100 * share);
    before = ", ";
  }
  return text;
}

std::string describe_doubt(const DamageFacts& damage) {
  if (damage.is_trusted()) return {};
  return "with so much damage quality is a rough guess, and more often too high than too low";
}

void add_damage(const DamageFacts& damage, nlohmann::ordered_json& to) {
  to["junk_share"] = damage.junk_share;
  to["quality_trusted"] = damage.is_trusted();
  auto& kinds = to["damage"] = nlohmann::ordered_json::object();
  for (const auto& [name, share] : damage.kinds) kinds[name] = share;
}

}  // namespace phsic
