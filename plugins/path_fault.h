// Why a file that an option names cannot be opened, for a message.
#pragma once

#include <string>

namespace phsic::plugins {

// "words.vec: No such file or directory (looked for in /home/me)": a relative path is told with the
// folder that it is relative to, the one that the program runs in. `error` is an errno.
[[nodiscard]] std::string path_fault(const std::string& path, int error);

}  // namespace phsic::plugins
