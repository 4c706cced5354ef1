// Decisions as they are written to tables.
#pragma once

#include <limits>

#include "cli/table/table_writer.h"
#include "decide/decision.h"

namespace phsic {

// About a line that is no pair.
inline constexpr Decision kBadLineDecision{Verdict::kDrop, reasons::kBadLine};

// An empty field in TSV, null in JSONL, where there is no reason.
[[nodiscard]] inline Value reason_value(ReasonCode reason, TableFormat format) {
  if (reason == reasons::kNone && format == TableFormat::kJsonl) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  return name_of_reason(reason);
}

}  // namespace phsic
