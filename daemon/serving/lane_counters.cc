#include "daemon/serving/lane_counters.h"

#include <array>
#include <utility>

namespace phsic {
namespace {

template <class Counters>
auto kept_counters(Counters& counters) {
  return std::array{
      std::pair{"scored", &counters.scored},         std::pair{"ranked", &counters.ranked},
      std::pair{"problems", &counters.problems},     std::pair{"refused", &counters.refused},
      std::pair{"refreshes", &counters.refreshes},   std::pair{"drifts", &counters.drifts},
      std::pair{"duplicates", &counters.duplicates}, std::pair{"failed", &counters.failed},
      std::pair{"overloaded", &counters.overloaded}, std::pair{"ahead", &counters.ahead}};
}

// Under the name of `flagged` state from before has all that was flagged.
constexpr std::pair<const char*, Verdict> kVerdicts[] = {
    {"flagged", Verdict::kDrop}, {"kept", Verdict::kKeep}, {"undecided", Verdict::kUndecided}};

std::string counter_of(std::size_t reason) {
  return "reason." + name_of_reason(static_cast<ReasonCode>(reason));
}

}  // namespace

std::map<std::string, std::uint64_t> LaneCounters::kept() const {
  std::map<std::string, std::uint64_t> values;
  for (const auto& [name, counter] : kept_counters(*this)) values[name] = *counter;
  for (const auto& [name, verdict] : kVerdicts) values[name] = aside[verdict];
  for (std::size_t i = 0; i < DecisionTally::kReasons; ++i) {
    if (aside.reasons[i] > 0) values[counter_of(i)] += aside.reasons[i];
  }
  return values;
}

void LaneCounters::restore(const std::map<std::string, std::uint64_t>& kept) {
  for (const auto& [name, counter] : kept_counters(*this)) {
    if (const auto found = kept.find(name); found != kept.end()) *counter = found->second;
  }
  for (const auto& [name, verdict] : kVerdicts) {
    const auto found = kept.find(name);
    if (found != kept.end()) aside.verdicts[static_cast<std::size_t>(verdict)] = found->second;
  }
  for (std::size_t i = 0; i < DecisionTally::kReasons; ++i) {
    if (!is_reason(static_cast<ReasonCode>(i))) continue;
    const auto found = kept.find(counter_of(i));
    if (found != kept.end()) aside.reasons[i] = found->second;
  }
}

void LaneCounters::restore(const DecisionMemory::Counts& counts) {
  for (std::size_t i = 0; i < counts.verdicts.size(); ++i) taught.verdicts[i] = counts.verdicts[i];
  for (const auto& [reason, count] : counts.reasons) taught.reasons[reason] = count;
  rejected = counts.rejected;
}

std::map<std::string, std::uint64_t> LaneCounters::reasons() const {
  std::map<std::string, std::uint64_t> all;
  for (std::size_t i = 0; i < DecisionTally::kReasons; ++i) {
    const auto count = taught.reasons[i] + aside.reasons[i];
    if (count > 0) all[name_of_reason(static_cast<ReasonCode>(i))] += count;
  }
  return all;
}

}  // namespace phsic
