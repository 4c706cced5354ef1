// Configurations for tests, and what is said of those that are wrong.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "daemon/config.h"

namespace phsic::tests {

inline constexpr const char* kOneStream = "streams: {a: }\n";

// The text followed by kOneStream.
[[nodiscard]] std::string with_stream(std::string_view text);

// As the file "c.yaml".
[[nodiscard]] Config parse(std::string_view text, const std::vector<Override>& overrides = {});
// The Error's text, or "none".
[[nodiscard]] std::string complaint(std::string_view text,
                                    const std::vector<Override>& overrides = {});

// The value of an option as it was written, or "none".
[[nodiscard]] std::string written_value(const StreamSettings& stream, std::string_view option);

// A file of this tree.
[[nodiscard]] std::string source_path(const std::string& path);
[[nodiscard]] std::string read_source(const std::string& path);

}  // namespace phsic::tests
