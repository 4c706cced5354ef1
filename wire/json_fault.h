// Where and why a text is not JSON, for those who have sent it.
#pragma once

#include <string>
#include <string_view>

namespace phsic {

// "at byte 17 (while parsing value - invalid literal)", counted from 0. Empty where it finds
// nothing: it looks at the first 64 KiB only, for it is slow. Nothing of the text is in it.
[[nodiscard]] std::string json_fault(std::string_view text);

}  // namespace phsic
