#include "cli/arguments.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <map>
#include <thread>

#include "cli/client/remote_session.h"
#include "cli/client/same_options.h"
#include "cli/model_file.h"

namespace phsic {
namespace {

constexpr const char* kModelGroup = "Model";

// An option that is one of some words. CLI11's own transformer would print the values in messages.
template <class Choice>
CLI::Option* add_choice(CLI::App& verb, const std::string& name, Choice& chosen,
                        const std::map<std::string, Choice>& words, const std::string& about) {
  return verb
      .add_option_function<std::string>(
          name, [&chosen, words](const std::string& word) { chosen = words.at(word); }, about)
      ->check(CLI::IsMember(words));
}

}  // namespace

void add_json_flag(CLI::App& verb, bool& json) {
  verb.add_flag("--json", json, "print one JSON object instead");
}

void TableArguments::add_to(CLI::App& verb, TableUse use) {
  const std::string group = "Table";
  verb.add_option("-x,--x,--scol", x,
                  "column of x: a number from 1, a name with --header, a member of JSONL "
                  "(default: the first column, or \"x\")")
      ->type_name("COL")
      ->group(group);
  verb.add_option("-y,--y,--tcol", y, "column of y (default: the second column, or \"y\")")
      ->type_name("COL")
      ->group(group);
  verb.add_option("--time", time,
                  "column of the time: seconds, or such as 2004-12-25T03:32:00Z; for half-lives "
                  "and windows in seconds")
      ->type_name("COL")
      ->group(group);
  add_choice(
      verb, "--format", format,
      {{"auto", TableFormat::kAuto}, {"tsv", TableFormat::kTsv}, {"jsonl", TableFormat::kJsonl}},
      "tsv, jsonl, or auto by the first line (default)")
      ->type_name("FORMAT")
      ->group(group);
  verb.add_flag("--header", header, "the first line of a TSV names its columns")->group(group);
  add_choice(verb, "--bad-lines", bad_lines,
             {{"skip", BadLinePolicy::kSkip},
              {"drop", BadLinePolicy::kDrop},
              {"fail", BadLinePolicy::kFail}},
             use == TableUse::kReadAndWritten
                 ? "what to do with a line that cannot be read: skip (default; it stays in the "
                   "output with nan), drop (it is left out), fail"
                 : "what to do with a line that cannot be read: skip (default) or drop (it is told "
                   "and passed over), fail")
      ->type_name("WHAT")
      ->group(group);
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
