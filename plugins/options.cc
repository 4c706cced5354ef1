#include "plugins/options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <stdexcept>

namespace phsic::plugins {
namespace {

std::invalid_argument wrong(std::string_view name, const nlohmann::json& found,
                            std::string_view expected) {
  return std::invalid_argument(
      fmt::format("option {} is {}, expected {}", name,
                  found.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace), expected));
}

}  // namespace

std::string to_json(const OptionTable& table) {
  auto list = nlohmann::ordered_json::array();
  for (const Option& option : table) {
    nlohmann::ordered_json entry;
    entry["name"] = option.name;
    entry["default"] = nlohmann::ordered_json::parse(option.fallback);
    entry["about"] = option.about;
    list.push_back(std::move(entry));
  }
  return list.dump();
}

Options::Options(const OptionTable& table, std::string_view chosen)
    : values_(nlohmann::json::object()) {
  for (const Option& option : table) {
    values_[std::string(option.name)] = nlohmann::json::parse(option.fallback);
  }
  const auto given = nlohmann::json::parse(chosen, nullptr, /*allow_exceptions=*/false);
  if (!given.is_object()) {
    throw std::invalid_argument(
        fmt::format("the options are {}, expected a JSON object", chosen.substr(0, 80)));
  }
  for (const auto& [name, value] : given.items()) {
    if (!values_.contains(name)) {
      std::vector<std::string_view> known;
      for (const Option& option : table) known.push_back(option.name);
      throw std::invalid_argument(
          fmt::format("there is no option {}, expected one of {}", name, fmt::join(known, ", ")));
    }
    values_[name] = value;
  }
}

const nlohmann::json& Options::value(std::string_view name) const {
  return values_.at(std::string(name));
}

std::int64_t Options::integer(std::string_view name, std::int64_t least, std::int64_t most) const {
  const auto& found = value(name);
  const auto expected = fmt::format("a whole number from {} to {}", least, most);
  if (!found.is_number_integer()) throw wrong(name, found, expected);
  if (found.is_number_unsigned() &&
      found.get<std::uint64_t>() > static_cast<std::uint64_t>(std::max<std::int64_t>(most, 0))) {
    throw wrong(name, found, expected);
  }
  const auto number = found.get<std::int64_t>();
  if (number < least || number > most) throw wrong(name, found, expected);
  return number;
}

double Options::number(std::string_view name, double least, double most) const {
  const auto& found = value(name);
  const auto expected = fmt::format("a number from {} to {}", least, most);
  if (!found.is_number()) throw wrong(name, found, expected);
  const auto number = found.get<double>();
  if (!(number >= least && number <= most)) throw wrong(name, found, expected);
  return number;
}

bool Options::flag(std::string_view name) const {
  const auto& found = value(name);
  if (!found.is_boolean()) throw wrong(name, found, "true or false");
  return found.get<bool>();
}

std::string Options::text(std::string_view name) const {
  const auto& found = value(name);
  if (found.is_null()) {
    throw std::invalid_argument(fmt::format("option {} is missing, expected {}=TEXT", name, name));
  }
  if (!found.is_string()) throw wrong(name, found, "a text");
  return found.get<std::string>();
}

std::string Options::choice(std::string_view name,
                            const std::vector<std::string_view>& words) const {
  const auto& found = value(name);
  auto word = found.is_string() ? found.get<std::string>() : std::string();
  if (std::find(words.begin(), words.end(), word) == words.end()) {
    throw wrong(name, found, fmt::format("one of {}", fmt::join(words, ", ")));
  }
  return word;
}

}  // namespace phsic::plugins
