// Settings from the command line, put into the tree that was read from the file.
#pragma once

#include <string_view>
#include <vector>

#include "daemon/config.h"
#include "daemon/problems.h"
#include "engine/yaml_tree.h"

namespace phsic {

// True if `option: value` of a stream replaces a setting of the option `earlier`, which came
// before: of the same option, of one side where `option` is about both, or of another way to
// forget.
[[nodiscard]] bool replaces(std::string_view option, const YamlNode& value,
                            std::string_view earlier);

// What an override puts into the tree has the line Problems::kCommandLine.
void apply_overrides(YamlNode& root, const std::vector<Override>& overrides, Problems& problems);

}  // namespace phsic
