#include "text/letter_case.h"

#include <unicode/uchar.h>
#include <unicode/utf8.h>

#include <array>

namespace phsic::text {

void write_in_case(std::string_view word, LetterCase letter_case, std::string& out) {
  out.clear();
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(word.data());
  bool is_first_letter = letter_case == LetterCase::kCapitalised;
  for (std::size_t at = 0; at < word.size();) {
    UChar32 point = 0;
    U8_NEXT_OR_FFFD(bytes, at, word.size(), point);
    if (is_first_letter && u_isalpha(point)) {
      point = u_totitle(point);
      is_first_letter = false;
    } else {
      point = letter_case == LetterCase::kUpper ? u_toupper(point) : u_tolower(point);
    }
    std::array<std::uint8_t, U8_MAX_LENGTH> encoded{};
    std::size_t size = 0;
    U8_APPEND_UNSAFE(encoded.data(), size, point);
    out.append(reinterpret_cast<const char*>(encoded.data()), size);
  }
}

}  // namespace phsic::text
