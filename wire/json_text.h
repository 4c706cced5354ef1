// Writing JSON where it has to be quick: texts and numbers, appended to a string.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace phsic {

// The text in quotation marks. What is not UTF-8 must not come in here: everything that was parsed
// is.
void append_json_text(std::string& out, std::string_view text);
[[nodiscard]] std::string quoted_json(std::string_view text);

// {"name":"value",...}
[[nodiscard]] std::string json_object(
    const std::vector<std::pair<std::string, std::string>>& members);

// All digits that tell it from others; null unless finite.
void append_json_number(std::string& out, double value);
// Six digits are enough of a share.
void append_json_share(std::string& out, double value);

}  // namespace phsic
