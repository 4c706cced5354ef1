// Decisions as JSON.
#pragma once

#include <string>

#include "decide/decision.h"

namespace phsic {

// "cut", or null where there is none.
void append_reason(ReasonCode reason, std::string& out);
// "decision":"drop","reason":"cut"
void append_decision(const Decision& decision, std::string& out);

}  // namespace phsic
