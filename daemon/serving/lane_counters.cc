#include "daemon/serving/lane_counters.h"

#include <array>
#include <utility>

namespace phsic {
namespace {

template <class Counters>
auto kept_counters(Counters& counters) {
  return std::array{
      std::pair{"scored", &counters.scored},   std::pair{"ranked", &counters.ranked},
      std::pair{"flagged", &counters.flagged}, std::pair{"problems", &counters.problems},
      std::pair{"refused", &counters.refused}, std::pair{"refreshes", &counters.refreshes},
      std::pair{"drifts", &counters.drifts},   std::pair{"duplicates", &counters.duplicates},
      std::pair{"failed", &counters.failed},   std::pair{"overloaded", &counters.overloaded},
      std::pair{"ahead", &counters.ahead}};
}

}  // namespace

std::map<std::string, std::uint64_t> LaneCounters::kept() const {
  std::map<std::string, std::uint64_t> values;
  for (const auto& [name, counter] : kept_counters(*this)) values[name] = *counter;
  return values;
}

void LaneCounters::restore(const std::map<std::string, std::uint64_t>& kept) {
  for (const auto& [name, counter] : kept_counters(*this)) {
    if (const auto found = kept.find(name); found != kept.end()) *counter = found->second;
  }
}

}  // namespace phsic
