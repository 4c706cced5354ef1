// UTF-8 that was read as Latin-1 or Windows-1252 and written again: "schÃ¶n", "itâ€™s", "Ð¿Ñ€Ð¸".
//
// Each byte of a character became a character of its own: one from À to ô, then one to three that
// stand for bytes from 0x80 to 0xBF. Capitals, quotation marks, dashes and no-break spaces come so
// in good French, Portuguese or German, too ("CAFÉ®", "là »", "IRMÃ”"), and do not count.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace phsic {

// Whether such a sequence begins with the character `lead`, which ends at `after` and follows the
// character `previous` (0 at the beginning).
[[nodiscard]] bool is_mojibake(std::string_view text, std::int32_t lead, std::size_t after,
                               std::int32_t previous);

}  // namespace phsic
