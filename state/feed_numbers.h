// The topics of a stream on the feed, and how their numbers are kept.
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace phsic {

// Numbers that are reserved in the state before they are given, and again when half of them are
// left: a day before they are needed, since the disk may fail for so long.
inline constexpr std::uint64_t kReserved = std::uint64_t{1} << 32U;

[[nodiscard]] inline std::array<std::string, 3> topics_of(const std::string& stream) {
  return {stream + "/score", stream + "/flag", stream + "/event"};
}

}  // namespace phsic
