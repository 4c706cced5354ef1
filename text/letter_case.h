// A word in another case: "Paris" as "paris", "nasa" as "NASA".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace phsic::text {

enum class LetterCase : std::uint8_t { kLower, kCapitalised, kUpper };

// `word` in that case, in `out`, character by character and the same in every locale.
void write_in_case(std::string_view word, LetterCase letter_case, std::string& out);

}  // namespace phsic::text
