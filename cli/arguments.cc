#include "cli/arguments.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <thread>

#include "cli/client/remote_session.h"
#include "cli/client/same_options.h"
#include "cli/model_file.h"

namespace phsic {
namespace {

constexpr const char* kModelGroup = "Model";

}  // namespace

void add_json_flag(CLI::App& verb, bool& json) {
  verb.add_flag("--json", json, "print one JSON object instead");
}

void add_encoder_path(CLI::App& verb, std::vector<std::string>& path) {
  verb.add_option("--encoder-path", path,
                  "folder with further encoders; may be given more than once")
      ->type_name("FOLDER")
      ->allow_extra_args(false)
      ->group(kModelGroup);
}

void ModelArguments::add_to(CLI::App& verb) {
  add_options_to(verb);
  verb.add_option("--threads", threads,
                  "how many to use (default: one for each processor); scores do not depend on it")
      ->check(CLI::Range(0, 1024))
      ->type_name("N")
      ->group(kModelGroup);
  daemon.add_as_choice_to(verb);
}

void ModelArguments::add_options_to(CLI::App& verb) {
  verb.add_option("--config", config,
                  "YAML file with any of these options, or a daemon's configuration, of which "
                  "--stream says the stream; flags count more than the file")
      ->type_name("FILE")
      ->group(kModelGroup);
  for (const auto& option : stream_options()) {
    verb.add_option_function<std::string>(
            fmt::format("--{}", option.name),
            [this, name = std::string(option.name)](const std::string& value) {
              chosen.emplace_back(name, value);
            },
            fmt::format("{} (default: {})", option.about, option.fallback))
        ->type_name(std::string(option.value))
        ->group(kModelGroup);
  }
  add_encoder_path(verb, encoder_path);
}

StreamSpec ModelArguments::spec() const {
  StreamSpec spec;
  bool is_named = daemon.stream.empty();
  if (!config.empty()) {
    const auto said = read_model_file(config, daemon.stream);
    is_named = is_named || said.is_of_daemon;
    for (const auto& [name, value] : general_first(said.options)) spec.set(name, value);
  }
  if (!is_named) {
    throw CLI::ValidationError(
        "--stream", "expected --connect ENDPOINT, or a daemon's configuration for --config");
  }
  for (const auto& [name, value] : general_first(chosen)) {
    try {
      spec.set(name, value);
    } catch (const Error& problem) {
      throw Error(fmt::format("--{}", problem.what()));
    }
  }
  return spec;
}

std::size_t ModelArguments::thread_count() const {
  return threads > 0 ? threads : std::max(1U, std::thread::hardware_concurrency());
}

std::unique_ptr<Session> ModelArguments::connect(StreamSpec* opened) const {
  if (!encoder_path.empty()) {
    throw Error("--encoder-path: the daemon of --connect has its own, expected none");
  }
  auto session = std::make_unique<RemoteSession>(daemon);
  OptionList wanted;
  if (!config.empty()) wanted = read_model_file(config, session->stream().name).options;
  wanted.insert(wanted.end(), chosen.begin(), chosen.end());
  require_same_options(wanted, session->stream(), daemon.endpoint);
  if (opened != nullptr) *opened = spec_of(session->stream());
  return session;
}

std::unique_ptr<Session> ModelArguments::open(const TableArguments& table,
                                              StreamSpec* opened) const {
  if (!daemon.endpoint.empty()) return connect(opened);
  const auto stream = spec();
  if (stream.forgetting.by_seconds() && table.time.empty()) {
    throw Error("half-life and window: found seconds but no times, expected --time COL");
  }
  if (opened != nullptr) *opened = stream;
  return Session::open(stream, EncoderPath({encoder_path.begin(), encoder_path.end()}),
                       thread_count());
}

}  // namespace phsic
