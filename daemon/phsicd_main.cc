// The daemon `phsicd`.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "core/error.h"
#include "daemon/config.h"
#include "daemon/log.h"
#include "daemon/server.h"
#include "daemon/start_check.h"

namespace {

// Documented in docs/operations.md.
enum ExitCode { kDone = 0, kFailed = 1, kUsage = 2 };

struct Arguments {
  std::string config;
  std::string check;
  std::vector<std::string> settings;
  bool fresh = false;
  bool without_models = false;
  bool prints_config = false;
  bool prints_reference = false;

  [[nodiscard]] std::vector<phsic::Override> overrides() const {
    std::vector<phsic::Override> all;
    for (const auto& setting : settings) {
      const auto equals = setting.find('=');
      if (equals == std::string::npos) {
        throw phsic::Error(fmt::format("--set {}: found no =, expected KEY=VALUE", setting));
      }
      all.push_back({setting.substr(0, equals), setting.substr(equals + 1)});
    }
    return all;
  }

  [[nodiscard]] phsic::Config read(const std::string& file) const {
    if (!file.empty()) return phsic::read_config(file, overrides());
    return phsic::parse_config(phsic::default_config_text(), "defaults", overrides());
  }
};

void add_to(CLI::App& app, Arguments& arguments) {
  app.set_version_flag("--version", "phsicd " PHSIC_VERSION);
  app.failure_message(CLI::FailureMessage::simple);
  app.add_option("-c,--config", arguments.config,
                 "configuration (default: one stream on loopback; --print-config shows it)")
      ->type_name("FILE");
  auto* check =
      app.add_option("--check", arguments.check,
                     "only say what is wrong with this configuration, and what would keep a daemon "
                     "with it from starting: encoders, model files, state")
          ->type_name("FILE");
  app.add_flag("--without-models", arguments.without_models,
               "check without opening the model files of encoders, which may be large")
      ->needs(check);
  app.add_option("--set", arguments.settings,
                 "a setting that counts more than the file, such as "
                 "service=ipc:///run/phsicd/service or streams.chat.half-life=2h; may be given "
                 "more than once")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  app.add_flag("--fresh", arguments.fresh,
               "begin anew where the state does not fit the configuration or cannot be read; the "
               "old file is kept beside the new one");
  app.add_flag("--print-config", arguments.prints_config, "print the default configuration");
  app.add_flag("--print-reference", arguments.prints_reference,
               "print what can be configured, as Markdown");
  app.footer(
      "Signals: SIGTERM and SIGINT answer what was accepted and end, SIGHUP reads the "
      "configuration again.\n"
      "Exit status: 0 done, 1 failed or something wrong with the configuration, 2 wrong usage.");
}

int run(int argc, char** argv) {
  CLI::App app("Tells how well pairs of texts belong together, live, learning as they arrive.",
               "phsicd");
  Arguments arguments;
  add_to(app, arguments);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& problem) {
    return app.exit(problem) == 0 ? kDone : kUsage;
  }
  if (arguments.prints_config) {
    fmt::print("{}", phsic::default_config_text());
    return kDone;
  }
  if (arguments.prints_reference) {
    fmt::print("{}", phsic::config_reference());
    return kDone;
  }
  if (!arguments.check.empty()) {
    const auto config = arguments.read(arguments.check);
    using Depth = phsic::CheckDepth;
    const auto problems =
        phsic::check_start(config, arguments.without_models ? Depth::kWithoutModels : Depth::kAll);
    for (const auto& problem : problems) fmt::print(stderr, "{}: {}\n", arguments.check, problem);
    if (!problems.empty()) return kFailed;
    fmt::print("{}: fine, {} stream{}\n", arguments.check, config.streams.size(),
               config.streams.size() == 1 ? "" : "s");
    return kDone;
  }
  auto config = arguments.read(arguments.config);
  phsic::set_up_log(config.log_level, config.log_format);
  phsic::Server server(
      std::move(config), [&] { return arguments.read(arguments.config); },
      arguments.fresh ? phsic::StartMode::kFresh : phsic::StartMode::kGoOn);
  return server.run();
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& problem) {
    fmt::print(stderr, "{}\n", problem.what());
    return kFailed;
  }
}
