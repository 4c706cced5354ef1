// A stream's options from a YAML file, by the same names as on the command line.
//
//   encoder: {name: hashing, dim: 2048}     or     encoder: hashing:dim=2048
//   kernel: gaussian:sigma=median
//   half-life: 7d
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "engine/stream_spec.h"

namespace phsic {

// Sets what the file says, and gives it as options with their values. Throws one Error that lists
// everything wrong with it, each with file, line, key, what was found and what was expected.
std::vector<std::pair<std::string, std::string>> read_stream_yaml(const std::string& file,
                                                                  StreamSpec& spec);

}  // namespace phsic
