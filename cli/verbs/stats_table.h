// What a daemon tells of itself and its streams, as tables for a reader.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "wire/message.h"

namespace phsic {

// Rows of cells under each other, two spaces between the columns. The first column is flush left,
// the others are flush right, as numbers are.
[[nodiscard]] std::string align(const std::vector<std::vector<std::string>>& rows);

// A value as people read it: "12.5 MiB", "3.1 ms", "2 h 05 min", by the unit of the statistic of
// that name.
[[nodiscard]] std::string describe_value(std::string_view name,
                                         const simdjson::dom::element& value);

// The answer to `stats`: everything that it has, a row for each member and a column for each
// stream. Throws an Error if it is none.
[[nodiscard]] std::string describe_stats(const JsonObject& answer);

}  // namespace phsic
