#include "cli/verbs/encoders.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli/arguments.h"
#include "core/error.h"
#include "engine/encoder_library.h"
#include "wire/printable.h"

namespace phsic {
namespace {

using Json = nlohmann::ordered_json;

Json describe_encoder(const EncoderLibrary& library) {
  Json out;
  out["name"] = library.plugin().name;
  out["version"] = library.plugin().version;
  out["summary"] = library.plugin().summary;
  out["file"] = library.file().string();
  out["options"] = Json::parse(library.plugin().options, nullptr, /*allow_exceptions=*/false);
  const auto is_option = [](const Json& option) {
    return option.is_object() && option.contains("default") &&
           option.value("name", Json()).is_string() && option.value("about", Json()).is_string();
  };
  const auto& options = out["options"];
  if (!options.is_array() || !std::all_of(options.begin(), options.end(), is_option)) {
    library.refuse(
        fmt::format("says that its options are {}, expected a JSON array of name, "
                    "default and about",
                    library.plugin().options));
  }
  return out;
}

void print(const Json& encoder) {
  fmt::print("{} {}: {}\n  {}\n", encoder["name"].get<std::string>(),
             encoder["version"].get<std::string>(), encoder["summary"].get<std::string>(),
             encoder["file"].get<std::string>());
  for (const auto& option : encoder["options"]) {
    const auto choice =
        fmt::format("{}={}", option["name"].get<std::string>(), option["default"].dump());
    fmt::print("    {:<24} {}\n", choice, option["about"].get<std::string>());
  }
}

}  // namespace

void EncodersArguments::add_to(CLI::App& verb) {
  verb.add_flag("--json", json, "print a JSON array instead");
  add_encoder_path(verb, encoder_path);
  verb.footer(
      "Lists each encoder with its options and their defaults, as --encoder takes them:\n"
      "  phsic score --encoder hashing:dim=2048,bigrams=true pairs.tsv");
}

void run_encoders(const EncodersArguments& arguments) {
  const EncoderPath path({arguments.encoder_path.begin(), arguments.encoder_path.end()});
  auto all = Json::array();
  for (const auto& file : path.all()) {
    try {
      all.push_back(describe_encoder(*EncoderLibrary::load(file)));
    } catch (const Error& problem) {
      fmt::print(stderr, "phsic: {}\n", printable_lines(problem.what()));
    }
  }
  if (arguments.json) {
    fmt::print("{}\n", for_output(all.dump(2)));
    return;
  }
  for (const auto& encoder : all) print(encoder);
}

}  // namespace phsic
