// Times as people write them in tables.
#pragma once

#include <optional>
#include <string_view>

namespace phsic {

// Seconds since 1970: of "1103945520.25" as it is, of "2004-12-25T03:32:00Z" (a space for the T, a
// fraction, an offset such as +01:00, or none for UTC) by the calendar. None for anything else.
[[nodiscard]] std::optional<double> parse_timestamp(std::string_view text);

}  // namespace phsic
