// Texts at random, in several scripts, for laws about any text.
#pragma once

#include <cstddef>
#include <string>

#include "core/random.h"

namespace phsic::test {

// How many sorts of text random_text() draws from.
inline constexpr std::size_t kTextSorts = 10;

// Words of Latin, Cyrillic, Arabic, Chinese with spaces here and there, Thai with marks, accents
// apart from their letters, all of these mixed; one word; blank or empty. The last sort alone is
// not UTF-8: bytes at random. REQUIRES: sort < kTextSorts.
[[nodiscard]] std::string random_text(std::size_t sort, Random& random);

}  // namespace phsic::test
