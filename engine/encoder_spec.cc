#include "engine/encoder_spec.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "core/error.h"

namespace phsic {
namespace {

[[noreturn]] void refuse(std::string_view notation, std::string_view problem) {
  throw Error(fmt::format("encoder \"{}\": {}, expected NAME or NAME:OPTION=VALUE,OPTION=VALUE",
                          notation, problem));
}

nlohmann::json typed(const std::string& text, bool quoted) {
  if (quoted) return text;
  const auto value = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  return value.is_number() || value.is_boolean() ? value : nlohmann::json(text);
}

// Takes "VALUE" off the front of `rest`, up to the next comma outside quotes.
nlohmann::json take_value(std::string_view notation, std::string_view& rest) {
  if (!rest.starts_with('"')) {
    const auto end = rest.find(',');
    const std::string text(rest.substr(0, end));
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end);
    return typed(text, false);
  }
  const auto end = rest.find('"', 1);
  if (end == std::string_view::npos) refuse(notation, "a quote is not closed");
  const std::string text(rest.substr(1, end - 1));
  rest.remove_prefix(end + 1);
  if (!rest.empty() && rest.front() != ',') refuse(notation, "there is text after a quote");
  return typed(text, true);
}

}  // namespace

EncoderSpec EncoderSpec::parse(std::string_view notation) {
  const auto colon = notation.find(':');
  EncoderSpec spec;
  spec.name = notation.substr(0, colon);
  if (spec.name.empty()) refuse(notation, "the name is missing");
  auto options = nlohmann::json::object();
  if (colon != std::string_view::npos) {
    auto rest = notation.substr(colon + 1);
    while (true) {
      const auto equals = rest.find('=');
      const std::string name(rest.substr(0, equals));
      if (equals == std::string_view::npos || name.empty()) {
        refuse(notation, fmt::format("\"{}\" is no OPTION=VALUE", rest));
      }
      if (options.contains(name)) refuse(notation, fmt::format("{} is given twice", name));
      rest.remove_prefix(equals + 1);
      options[name] = take_value(notation, rest);
      if (rest.empty()) break;
      rest.remove_prefix(1);
    }
  }
  try {
    spec.options = options.dump();
  } catch (const nlohmann::json::exception&) {
    refuse(notation, "it is not valid UTF-8");
  }
  return spec;
}

}  // namespace phsic
