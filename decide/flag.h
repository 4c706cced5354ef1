// The one decision of today: a pair is flagged when it looks like a random pairing.
#pragma once

namespace phsic {

// Flagged from `flag_p_value` on; with 0 no pair is, and a pair without a p-value (NaN) never is.
[[nodiscard]] inline bool is_flagged(double p_value, double flag_p_value) {
  return flag_p_value > 0 && p_value >= flag_p_value;
}

}  // namespace phsic
