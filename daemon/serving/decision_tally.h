// Counts decisions, by verdict and by reason. Any thread.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "decide/decision.h"

namespace phsic {

struct DecisionTally {
  static constexpr std::size_t kVerdicts = 3;
  static constexpr std::size_t kReasons = std::numeric_limits<ReasonCode>::max() + std::size_t{1};

  std::array<std::atomic<std::uint64_t>, kVerdicts> verdicts{};
  std::array<std::atomic<std::uint64_t>, kReasons> reasons{};  // kNone is not counted

  void add(const Decision& decision) {
    ++verdicts[static_cast<std::size_t>(decision.verdict)];
    if (decision.reason != phsic::reasons::kNone) ++reasons[decision.reason];
  }
  [[nodiscard]] std::uint64_t operator[](Verdict verdict) const {
    return verdicts[static_cast<std::size_t>(verdict)];
  }
};

}  // namespace phsic
