// What operators write: refused by an Error of plain lines, or understood the same way twice. What
// follows a zero is a setting of the command line.
#include "daemon/config.h"

#include <algorithm>

#include "core/error.h"
#include "core/spectrum.h"
#include "daemon/config_change.h"
#include "tests/fuzz/check_state.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using phsic::fuzz::require;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  std::vector<phsic::Override> overrides;
  if (const auto zero = text.find('\0'); zero != std::string_view::npos) {
    const auto setting = text.substr(zero + 1);
    const auto equals = std::min(setting.find('='), setting.size());
    overrides.push_back({std::string(setting.substr(0, equals)),
                         std::string(setting.substr(std::min(equals + 1, setting.size())))});
    text = text.substr(0, zero);
  }
  phsic::Config config;
  try {
    config = phsic::parse_config(text, "fuzz", overrides);
  } catch (const phsic::Error& problem) {
    const std::string_view told = problem.what();
    require(!told.empty() && phsic::is_utf8(told), "an error is a text");
    return 0;
  }
  require(config == phsic::parse_config(text, "fuzz", overrides), "it is always the same");
  require(!config.streams.empty() && !config.service.empty(), "there is something to serve");
  require(phsic::refused_changes(config, config).empty(), "no change is no change");
  for (const auto& stream : config.streams) {
    stream.spec.validate();
    for (const auto& [name, value] : stream.options) {
      require(phsic::is_utf8(name) && phsic::is_utf8(value), "options are texts");
    }
  }
  return 0;
}
