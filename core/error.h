// What can go wrong, in two kinds.
//
// `Error` is thrown by what is done rarely (configuration, building, parsing saved state); its text
// says what was found and what was expected. `Fault` is returned, never thrown, by what is done for
// every pair: it tells why one pair was refused. A refused pair changes nothing.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace phsic {

class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message) : std::runtime_error(message) {}
};

enum class Fault : std::uint8_t {
  kNone,
  kWrongShape,  // the item's kind or dimension is not the stream's
  kNotFinite,   // a NaN or an infinity among the values, or in the kernel of the item with itself
  kTooLarge,    // a value beyond kMaxMagnitude, whose square would drown the sums
  kBadIndex,    // sparse indices out of range or not strictly increasing
  kBadText,     // not valid UTF-8
  kBadWeight,   // a weight that is negative, not finite or beyond kMaxWeight
  kBadTime,     // an arrival time that is not finite or beyond kMaxTime
};

// Values larger than this are refused: sums of their squares over a block must fit a float.
inline constexpr double kMaxMagnitude = 1e9;
inline constexpr double kMaxWeight = 1e6;
// No stream weighs more: 2^64 pairs of kMaxWeight.
inline constexpr double kMostWeight = 2e25;
// Seconds, before or after zero. Differences of such times stay finite in units of any half-life.
inline constexpr double kMaxTime = 1e15;

[[nodiscard]] constexpr std::string_view describe(Fault fault) {
  switch (fault) {
    case Fault::kNone: return "no fault";
    case Fault::kWrongShape: return "the item's kind or dimension is not the stream's";
    case Fault::kNotFinite: return "a value is NaN or infinite, expected finite numbers";
    case Fault::kTooLarge: return "a value is beyond 1e9, expected magnitudes up to 1e9";
    case Fault::kBadIndex:
      return "sparse indices are out of range or unsorted, expected strictly increasing indices "
             "below the dimension";
    case Fault::kBadText: return "the text is not valid UTF-8";
    case Fault::kBadWeight: return "the weight is out of range, expected a number from 0 to 1e6";
    case Fault::kBadTime: return "the arrival time is out of range, expected seconds up to 1e15";
  }
  return "unknown fault";
}

}  // namespace phsic
