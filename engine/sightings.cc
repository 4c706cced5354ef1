#include "engine/sightings.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/measure.h"
#include "engine/batch.h"

namespace phsic {

void Sightings::add(std::uint8_t seen) {
  seen_.push_back(seen);
  if (seen_.size() > most_) seen_.pop_front();
}

std::size_t Sightings::count_held_back(std::vector<std::size_t> counts) const {
  std::size_t pairs = 0;
  for (auto seen = seen_.rbegin(); seen != seen_.rend(); ++seen, ++pairs) {
    for (std::size_t v = 0; v < counts.size(); ++v) {
      if ((*seen & bit_of(v)) != 0 && counts[v]-- == 0) return pairs;
    }
  }
  return pairs;
}

Sightings::HeldBack Sightings::held_back(std::vector<std::size_t> counts) const {
  HeldBack found;
  found.pairs = count_held_back(counts);
  found.rows.assign(counts.size(), std::vector<std::size_t>(found.pairs, TrialPlan::kAbsent));
  auto seen = seen_.rbegin();
  for (std::size_t p = found.pairs; p > 0; --p, ++seen) {
    for (std::size_t v = 0; v < counts.size(); ++v) {
      if ((*seen & bit_of(v)) != 0) found.rows[v][p - 1] = --counts[v];
    }
  }
  return found;
}

void Sightings::save(Writer& writer) const {
  writer.array(std::vector<std::uint8_t>(seen_.begin(), seen_.end()));
}

Sightings Sightings::load_like(Reader& reader, std::uint64_t pairs) const {
  const auto seen = reader.array<std::uint8_t>("sightings");
  const auto most = std::min<std::uint64_t>(most_, pairs);
  if (seen.size() > most) {
    reader.refuse("sightings", fmt::format("found {}, expected {} at most", seen.size(), most));
  }
  Sightings sightings(most_);
  sightings.seen_.assign(seen.begin(), seen.end());
  return sightings;
}

}  // namespace phsic
