// The one decision of today: is a pair told of because it looks like a random pairing?
#pragma once

namespace phsic {

// `flag_p_value` of 0: none is.
[[nodiscard]] inline bool is_flagged(double p_value, double flag_p_value) {
  return flag_p_value > 0 && p_value >= flag_p_value;
}

}  // namespace phsic
