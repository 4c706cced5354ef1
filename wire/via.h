// The way of a pair through daemons that take each other's feeds.
//
// Each daemon has a name as long as it runs, and each message of a feed has the names of those that
// the pair came through. A daemon that finds its own name there has had the pair already: without
// that, two daemons that take each other's feeds would learn one pair for ever.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace phsic {

// A pair that came through so many daemons goes no further.
inline constexpr std::size_t kMostDaemons = 16;

// A name unlike any other daemon's.
[[nodiscard]] std::string random_name();

// "via":["a","b"]
[[nodiscard]] std::string via_member(const std::vector<std::string>& via, const std::string& last);

// True if a message of a feed with this topic is a copy of another one that a subscriber to
// `prefix` gets as well: flagged pairs are published among the flags and among the scores.
[[nodiscard]] bool is_copy(std::string_view topic, std::string_view prefix);

}  // namespace phsic
