// A law: two ways to the same thing must agree, on every random shape. And a deliberately wrong way
// must not, or the law tells nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "tests/core/reduced.h"

namespace phsic::test {

inline constexpr std::uint64_t kShapes = reduced(50, 4);

// Which way to take: the right one, or the one that the law has to reject.
enum class Way { kRight, kWrong };

// `distance(seed, way)` makes a random shape from the seed and returns how far apart the two sides
// are. The right way must stay within `tolerance` on all shapes, the wrong one must not on nearly
// all (a random shape may be too small to show the difference).
void require_law(const std::string& law, double tolerance,
                 const std::function<double(std::uint64_t seed, Way way)>& distance);

}  // namespace phsic::test
