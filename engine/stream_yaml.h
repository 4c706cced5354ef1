// A stream's options from a YAML file, by the same names as on the command line.
//
//   encoder: {name: hashing, dim: 2048}     or     encoder: hashing:dim=2048
//   kernel: gaussian:sigma=median
//   half-life: 7d
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "engine/stream_spec.h"
#include "engine/yaml_tree.h"

namespace phsic {

// An option's value as StreamSpec::set() takes it: a text as it is, an encoder that is written as a
// mapping in the notation of encoder_spec.h. Throws an Error with what was found and expected.
[[nodiscard]] std::string notation_of(const YamlNode& value);
// The same for an option of a stream, which may be a list of views (view_spec.h).
[[nodiscard]] std::string notation_of(const YamlEntry& option);

// Sets what the file says, and gives it as options with their values. Throws one Error that lists
// everything wrong with it, each with file, line, key, what was found and what was expected.
// `take_other` is given what is no option of a stream, if it is not empty: false, or an Error, if
// it cannot be used.
std::vector<std::pair<std::string, std::string>> read_stream_yaml(
    const std::string& file, StreamSpec& spec,
    const std::function<bool(const YamlEntry&)>& take_other = {});

// The line of an option that is wrong: that of the first wrong item if it is the list of views.
[[nodiscard]] int line_of_problem(const YamlEntry& option);

}  // namespace phsic
