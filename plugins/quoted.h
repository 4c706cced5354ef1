// Foreign bytes inside a message.
#pragma once

#include <string>
#include <string_view>

namespace phsic::plugins {

// `bytes` in quotes: printable ASCII as it is, the rest as \xNN, and cut when long, so that a
// message stays one short line of text whatever was found.
[[nodiscard]] std::string quoted(std::string_view bytes);

}  // namespace phsic::plugins
