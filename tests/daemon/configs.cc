#include "tests/daemon/configs.h"

#include <fmt/format.h>

#include <fstream>
#include <sstream>
#include <stdexcept>

#include "core/error.h"

namespace phsic::tests {

std::string with_stream(std::string_view text) { return fmt::format("{}{}", text, kOneStream); }

Config parse(std::string_view text, const std::vector<Override>& overrides) {
  return parse_config(text, "c.yaml", overrides);
}

std::string complaint(std::string_view text, const std::vector<Override>& overrides) {
  try {
    static_cast<void>(parse(text, overrides));
  } catch (const Error& problem) {
    return problem.what();
  }
  return "none";
}

std::string written_value(const StreamSettings& stream, std::string_view option) {
  for (const auto& [name, value] : stream.options) {
    if (name == option) return value;
  }
  return "none";
}

std::string source_path(const std::string& path) { return PHSIC_SOURCE_DIR "/" + path; }

std::string read_source(const std::string& path) {
  std::ifstream file(source_path(path), std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) throw std::runtime_error("cannot read " + path);
  return text.str();
}

}  // namespace phsic::tests
