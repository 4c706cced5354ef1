// Writing JSON where it has to be quick: texts and numbers, appended to a string.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace phsic {

// Appends the text in quotation marks. REQUIRES: UTF-8, which every text is that was parsed.
void append_json_text(std::string& out, std::string_view text);
[[nodiscard]] std::string quoted_json(std::string_view text);

// {"name":"value",...}
[[nodiscard]] std::string json_object(
    const std::vector<std::pair<std::string, std::string>>& members);

// Appends as many digits as tell the number from all others; null unless it is finite.
void append_json_number(std::string& out, double value);
// Appends a share with six digits, which are enough for one.
void append_json_share(std::string& out, double value);

}  // namespace phsic
