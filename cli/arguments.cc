#include "cli/arguments.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <thread>
#include <utility>

#include "cli/client/remote_session.h"
#include "cli/client/same_options.h"
#include "cli/model_file.h"
#include "cli/session/saved_model.h"
#include "decide/memory_replay.h"

namespace phsic {
namespace {

constexpr const char* kModelGroup = "Model";
constexpr const char* kDecisionGroup = "Decisions";
constexpr const char* kViews = "views";  // the option that --view makes

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

void add_model_file(CLI::App& verb, std::string& file, bool& trust) {
  verb.add_option("--model", file,
                  "a model file (see learn and save) to score with; nothing is learned")
      ->type_name("FILE")
      ->group(kModelGroup);
  verb.add_flag("--trust", trust, "load encoders that the model file names by a path")
      ->needs("--model")
      ->group(kModelGroup);
}

void ModelArguments::add_to(CLI::App& verb) {
  add_model_file(verb, model, trust);
  add_options_to(verb);
  add_decisions_to(verb);
  add_threads_to(verb);
  daemon.add_as_choice_to(verb);
  verb.add_flag("--no-learn", no_learn, "teach the daemon's stream nothing")
      ->needs("--connect")
      ->group("Daemon");
  verb.get_option("--connect")->excludes("--model");
}

void ModelArguments::add_threads_to(CLI::App& verb) {
  verb.add_option("--threads", threads,
                  "how many to use (default: one for each processor); scores do not depend on it")
      ->check(CLI::Range(0, 1024))
      ->type_name("N")
      ->group(kModelGroup);
}

void ModelArguments::add_decisions_to(CLI::App& verb) {
  for (const auto& option : decide_options()) {
    verb.add_option_function<std::string>(
            fmt::format("--{}", option.name),
            [this, name = std::string(option.name)](const std::string& value) {
              decisions.emplace_back(name, value);
            },
            option.fallback.empty()
                ? std::string(option.about)
                : fmt::format("{} (default: {})", option.about, option.fallback))
        ->type_name(std::string(option.value))
        ->group(kDecisionGroup);
  }
}

void ModelArguments::add_options_to(CLI::App& verb) {
  verb.add_option("--config", config,
                  "YAML file with any of these options, or a daemon's configuration, of which "
                  "--stream says the stream; flags count more than the file")
      ->type_name("FILE")
      ->group(kModelGroup);
  for (const auto& option : stream_options()) {
    if (option.name == kViews) continue;
    verb.add_option_function<std::string>(
            fmt::format("--{}", option.name),
            [this, name = std::string(option.name)](const std::string& value) {
              chosen.emplace_back(name, value);
            },
            fmt::format("{} (default: {})", option.about, option.fallback))
        ->type_name(std::string(option.value))
        ->group(kModelGroup);
  }
  verb.add_option_function<std::string>(
          "--view", [this](const std::string& encoder) { add_view_of(encoder); },
          "one of several encoders through which pairs are seen; may be given more than once; how "
          "much each counts is found by self-measurement")
      ->type_name("NAME[:...]")
      ->allow_extra_args(false)
      ->trigger_on_parse()
      ->group(kModelGroup);
  add_encoder_path(verb, encoder_path);
}

void ModelArguments::add_view_of(const std::string& encoder) {
  for (auto& [name, value] : chosen) {
    if (name != kViews) continue;
    add_view(encoder, value);
    return;
  }
  add_view(encoder, chosen.emplace_back(kViews, "").second);
}

void ModelArguments::require_encoder_or_views(const StreamSpec& spec) const {
  const bool has_encoder = spec.x_encoder != EncoderSpec() || spec.y_encoder != EncoderSpec();
  if (spec.views.empty() || !has_encoder) return;
  const auto place = [this](std::string_view flag, const auto& is_it) {
    for (const auto& [name, value] : chosen) {
      if (is_it(name)) return fmt::format("--{}", flag.empty() ? name : flag);
    }
    return fmt::format("{} in {}", flag.empty() ? "encoder" : kViews, config);
  };
  throw Error(
      fmt::format("found {} beside {}, expected the encoder as one of the views",
                  place("", [](const std::string& name) { return name.ends_with("encoder"); }),
                  place("view", [](const std::string& name) { return name == kViews; })));
}

ModelArguments::Wanted ModelArguments::wanted() const {
  Wanted wanted;
  bool is_named = daemon.stream.empty();
  if (!config.empty()) {
    auto said = read_model_file(config, daemon.stream);
    is_named = is_named || said.is_of_daemon;
    wanted.options = std::move(said.options);
    wanted.decisions = std::move(said.decisions);
    for (const auto& [name, value] : general_first(wanted.options)) wanted.stream.set(name, value);
  }
  if (!is_named) {
    throw CLI::ValidationError(
        "--stream", "expected --connect ENDPOINT, or a daemon's configuration for --config");
  }
  try {
    for (const auto& [name, value] : general_first(chosen)) wanted.stream.set(name, value);
    static_cast<void>(decide_spec_of(decisions));
  } catch (const Error& problem) {
    const std::string_view what = problem.what();
    const bool is_views = what.starts_with(kViews);
    throw Error(fmt::format("--{}{}", is_views ? "view" : "",
                            what.substr(is_views ? std::string_view(kViews).size() : 0)));
  }
  require_encoder_or_views(wanted.stream);
  override_options(wanted.options, chosen);
  override_decisions(wanted.decisions, decisions);
  wanted.decide = decide_spec_of(wanted.decisions);
  return wanted;
}

void ModelArguments::require_something_to_learn(const std::string& learn) const {
  if (is_fixed() == learn.empty()) return;
  throw CLI::ValidationError(
      learn.empty() ? "--learn is required, unless there is --model FILE or "
                      "--no-learn with --connect"
                    : fmt::format("--learn excludes {}", no_learn ? "--no-learn" : "--model"));
}

std::size_t ModelArguments::thread_count() const {
  return threads > 0 ? threads : std::max(1U, std::thread::hardware_concurrency());
}

EncoderPath ModelArguments::path() const {
  return EncoderPath({encoder_path.begin(), encoder_path.end()});
}

std::unique_ptr<Session> ModelArguments::connect(StreamSpec* opened) const {
  if (!encoder_path.empty()) {
    throw Error("--encoder-path: the daemon of --connect has its own, expected none");
  }
  auto session = std::make_unique<RemoteSession>(daemon, !no_learn);
  Options asked;
  if (!config.empty()) {
    const auto said = read_model_file(config, session->stream().name);
    asked = said.options;
    asked.insert(asked.end(), said.decisions.begin(), said.decisions.end());
  }
  asked.insert(asked.end(), chosen.begin(), chosen.end());
  asked.insert(asked.end(), decisions.begin(), decisions.end());
  DecideSpec own;
  std::erase_if(asked, [&](const auto& option) {
    const auto* const known = find_decide_option(option.first);
    if (known == nullptr || known->is_served) return false;
    own.set(option.first, option.second);
    return true;
  });
  session->set_keeps_undecided(own.keeps_undecided);
  require_same_options(asked, session->stream(), daemon.endpoint);
  if (opened != nullptr) *opened = spec_of(session->stream());
  return session;
}

std::unique_ptr<Session> ModelArguments::open_model(StreamSpec* opened) const {
  auto saved = read_model(model, path(), trust ? Trust::kPathsToo : Trust::kNamesOnly);
  const auto asked = wanted();
  require_same_options(asked.options, {saved.copy.name, saved.copy.options, 0, 0}, model);
  auto decides = saved.decide_options;
  override_decisions(decides, asked.decisions);
  if (opened != nullptr) *opened = spec_of(saved.copy.options);
  auto session = open_session(saved, decide_spec_of(decides), thread_count());
  session->set_own_share(false);
  return session;
}

std::unique_ptr<Session> ModelArguments::open_own(const TableArguments& table,
                                                  StreamSpec* opened) const {
  const auto asked = wanted();
  if (asked.stream.forgetting.by_seconds() && table.time.empty()) {
    throw Error("half-life and window: found seconds but no times, expected --time COL");
  }
  if (opened != nullptr) *opened = asked.stream;
  return Session::open(asked.stream, asked.decide, path(), thread_count());
}

std::unique_ptr<Session> ModelArguments::open(const TableArguments& table,
                                              StreamSpec* opened) const {
  if (!daemon.endpoint.empty()) return connect(opened);
  return model.empty() ? open_own(table, opened) : open_model(opened);
}

}  // namespace phsic
