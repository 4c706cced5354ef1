// The options of an encoder: one table that describes them, and the values somebody chose.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace phsic::plugins {

struct Option {
  std::string_view name;
  std::string_view fallback;  // the default, as JSON text
  std::string_view about;
};
using OptionTable = std::vector<Option>;

// The table as the JSON array that encoder.h asks for.
[[nodiscard]] std::string to_json(const OptionTable& table);

class Options {
 public:
  // `chosen` is a JSON object as text. Throws std::invalid_argument when it is not, or when it has
  // a member that the table has not.
  Options(const OptionTable& table, std::string_view chosen);

  // Each throws std::invalid_argument that names the option, what was found and what was expected.
  [[nodiscard]] std::int64_t integer(std::string_view name, std::int64_t least,
                                     std::int64_t most) const;
  [[nodiscard]] double number(std::string_view name, double least, double most) const;
  [[nodiscard]] bool flag(std::string_view name) const;
  [[nodiscard]] std::string text(std::string_view name) const;
  // One of `words`.
  [[nodiscard]] std::string choice(std::string_view name,
                                   const std::vector<std::string_view>& words) const;

 private:
  [[nodiscard]] const nlohmann::json& value(std::string_view name) const;

  nlohmann::json values_;
};

}  // namespace phsic::plugins
