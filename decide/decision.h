// What is decided about a pair: keep it, drop it, or nothing yet, and for which one reason.
//
// A reason is one byte, the same in every version: journals keep it.
#pragma once

#include <cstdint>
#include <string>

namespace phsic {

enum class Verdict : std::uint8_t { kKeep, kDrop, kUndecided };

// 0: none. Below kFirstRule those named here; from there on a rule and a side (rules.h), from
// kFirstDamage on a kind of damage.
using ReasonCode = std::uint8_t;

namespace reasons {
inline constexpr ReasonCode kNone = 0;
inline constexpr ReasonCode kCut = 1;            // the score is below the cut
inline constexpr ReasonCode kDuplicate = 2;      // the same pair came before
inline constexpr ReasonCode kNearDuplicate = 3;  // ... but for case, signs, spaces and digits
inline constexpr ReasonCode kUnscored = 4;       // the encoder cannot read the pair
inline constexpr ReasonCode kNoModel = 5;        // no model yet that could tell
inline constexpr ReasonCode kBadLine = 6;        // of a table: the line is no pair
inline constexpr ReasonCode kFirstRule = 16;
inline constexpr ReasonCode kFirstDamage = 224;  // a judge finds it damaged so (engine/damage.h)
}  // namespace reasons

struct Decision {
  Verdict verdict = Verdict::kUndecided;
  ReasonCode reason = reasons::kNoModel;

  bool operator==(const Decision&) const = default;
};

// "keep", "drop", "undecided".
[[nodiscard]] const char* name_of(Verdict verdict);
// "cut", "duplicate", "no_empty(left)"; empty for kNone, "unknown" for a code of no meaning.
[[nodiscard]] const std::string& name_of_reason(ReasonCode code);
struct DamageKind;
// The reason of a pair that a judge drops as damaged so.
[[nodiscard]] ReasonCode reason_of(const DamageKind& kind);
[[nodiscard]] bool is_reason(ReasonCode code);
// The quality of a pair: 0 for what was rejected before its score was looked at, whatever a judge
// says.
[[nodiscard]] double quality_of(const Decision& decision, double quality);
// Whether a pair with this reason was rejected before its score was looked at, and is not learned.
[[nodiscard]] bool is_rejection(ReasonCode code);

}  // namespace phsic
