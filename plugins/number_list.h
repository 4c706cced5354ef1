// A list of numbers in a text: "0.1 0.2 -3e-1", "0.1, 0.2; -3e-1" or "[0.1, 0.2, -0.3]".
#pragma once

#include <cstddef>
#include <string_view>

namespace phsic::plugins {

// Reads exactly `count` finite numbers into `values`. Between two of them stand white space, a
// comma or semicolon, or both; brackets may stand around all. Throws BadText (plugin.h) that says
// which number is wrong, what was found and what was expected.
void read_number_list(std::string_view text, std::size_t count, float* values);

}  // namespace phsic::plugins
