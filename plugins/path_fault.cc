#include "plugins/path_fault.h"

#include <fmt/format.h>

#include <cstring>
#include <filesystem>

namespace phsic::plugins {

std::string path_fault(const std::string& path, int error) {
  auto text = fmt::format("{}: {}", path, std::strerror(error));
  std::error_code unknown;
  const auto folder = std::filesystem::current_path(unknown);
  if (path.starts_with('/') || unknown) return text;
  return fmt::format("{} (looked for in {})", text, folder.string());
}

}  // namespace phsic::plugins
