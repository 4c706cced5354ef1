#include "engine/stream_yaml.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <yaml-cpp/yaml.h>

#include <exception>
#include <set>
#include <utility>
#include <vector>

#include "core/error.h"

namespace phsic {
namespace {

// The notation of a scalar, or of an encoder written as a mapping.
std::string notation_of(const std::string& key, const YAML::Node& node) {
  if (node.IsScalar()) return node.Scalar();
  if (!node.IsMap() || !node["name"] || !node["name"].IsScalar()) {
    throw Error(fmt::format(
        "{}: found neither a text nor a mapping with a name, expected one of them", key));
  }
  std::string notation = node["name"].Scalar();
  char separator = ':';
  for (const auto& entry : node) {
    if (entry.first.Scalar() == "name") continue;
    if (!entry.second.IsScalar()) {
      throw Error(fmt::format("{}: option {} is no text or number, expected one", key,
                              entry.first.Scalar()));
    }
    if (entry.second.Scalar().find('"') != std::string::npos) {
      throw Error(fmt::format("{}: option {} has a quotation mark in it, expected none", key,
                              entry.first.Scalar()));
    }
    // Quoted in YAML is quoted here: a text, whatever it looks like.
    const bool quoted =
        entry.second.Tag() == "!" || entry.second.Scalar().find(',') != std::string::npos;
    const char* quote = quoted ? "\"" : "";
    notation += fmt::format("{}{}={}{}{}", separator, entry.first.Scalar(), quote,
                            entry.second.Scalar(), quote);
    separator = ',';
  }
  return notation;
}

YAML::Node load(const std::string& file) {
  try {
    return YAML::LoadFile(file);
  } catch (const YAML::BadFile&) {
    throw Error(fmt::format("{}: cannot be read, expected a YAML file", file));
  } catch (const YAML::Exception& problem) {
    throw Error(fmt::format("{}:{}: {}", file, problem.mark.line + 1, problem.msg));
  } catch (const std::exception& problem) {  // a folder, say
    throw Error(fmt::format("{}: cannot be read, expected a YAML file: {}", file, problem.what()));
  }
}

}  // namespace

std::vector<std::pair<std::string, std::string>> read_stream_yaml(const std::string& file,
                                                                  StreamSpec& spec) {
  std::vector<std::pair<std::string, std::string>> options;
  const auto root = load(file);
  if (root.IsNull()) return options;
  if (!root.IsMap()) {
    throw Error(fmt::format("{}: found no mapping, expected OPTION: VALUE lines", file));
  }
  std::vector<std::string> problems;
  std::set<std::string> seen;
  // What holds for both sides comes first, whatever the order in the file.
  for (const bool general : {true, false}) {
    for (const auto& entry : root) {
      const auto key = entry.first.IsScalar() ? entry.first.Scalar() : std::string("?");
      if (general != (key == "encoder" || key == "kernel")) continue;
      const int line = entry.second.Mark().line + 1;
      try {
        if (!seen.insert(key).second) {
          throw Error(fmt::format("{}: found twice, expected once", key));
        }
        auto notation = notation_of(key, entry.second);
        spec.set(key, notation);
        options.emplace_back(key, std::move(notation));
      } catch (const Error& problem) {
        problems.push_back(fmt::format("{}:{}: {}", file, line, problem.what()));
      }
    }
  }
  if (!problems.empty()) throw Error(fmt::format("{}", fmt::join(problems, "\n")));
  return options;
}

}  // namespace phsic
