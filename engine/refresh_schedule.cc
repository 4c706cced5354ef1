#include "engine/refresh_schedule.h"

#include <algorithm>

#include "core/recent.h"
#include "core/refresh.h"

namespace phsic {
namespace {

// The first model is built from this many pairs. From then on there is a new one whenever a third
// more has been learned, or, when the stream forgets, an eighth of what counts, in whole blocks.
constexpr std::uint64_t kFirstRefresh = kBlockPairs;

}  // namespace

RefreshSchedule::RefreshSchedule(std::uint64_t pairs)
    : pairs_(pairs), next_(pairs > 0 ? pairs : kFirstRefresh) {}

std::uint64_t RefreshSchedule::until(std::uint64_t learned) const {
  const auto due = std::max(next_, kFewestMeasured);
  return due - std::min(due, learned);
}

void RefreshSchedule::move_on(std::uint64_t learned, double effective, bool forgets) {
  if (pairs_ > 0) {
    next_ = learned + pairs_;
    return;
  }
  auto step = learned / 3;
  if (forgets) step = std::min(step, static_cast<std::uint64_t>(effective) / 8);
  next_ = learned + std::max(step / kBlockPairs, std::uint64_t{1}) * kBlockPairs;
}

bool RefreshSchedule::set(std::uint64_t pairs) {
  if (pairs == pairs_) return false;
  pairs_ = pairs;
  return true;
}

void RefreshSchedule::save(Writer& writer) const {
  writer.number(pairs_);
  writer.number(next_);
}

RefreshSchedule RefreshSchedule::load(Reader& reader) {
  RefreshSchedule schedule(reader.number<std::uint64_t>("refresh"));
  schedule.next_ = reader.number<std::uint64_t>("next refresh");
  return schedule;
}

}  // namespace phsic
