// Is this a fastText model? libfasttext believes every number in the file that it loads: a cut or
// damaged one has it read beyond its tables, or ask for as much memory as there is. So every
// number it would believe is checked first.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace phsic::plugins {

// `bytes` is the whole file: .bin or, quantised, .ftz. Returns its dimension. Throws
// std::invalid_argument with `name`, the byte, what was found and what was expected, unless
// libfasttext can load and use the model safely and all its vectors are finite.
std::uint32_t check_fasttext(std::string_view bytes, const std::string& name);

}  // namespace phsic::plugins
