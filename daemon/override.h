// Settings from the command line, put into the tree that was read from the file.
#pragma once

#include <string_view>
#include <vector>

#include "daemon/config.h"
#include "daemon/problems.h"
#include "engine/yaml_tree.h"

namespace phsic {

// When a stream has `option: value`, does that replace what was said of `earlier` before: of the
// same option, of one side where it is about both, of another way to forget?
[[nodiscard]] bool replaces(std::string_view option, const YamlNode& value,
                            std::string_view earlier);

// What comes from an override has the line Problems::kCommandLine.
void apply_overrides(YamlNode& root, const std::vector<Override>& overrides, Problems& problems);

}  // namespace phsic
