// Texts: is_utf8() judges any bytes, and well-formed ones have profiles of unit length.
#include <cmath>

#include "core/spectrum.h"
#include "tests/fuzz/check_state.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using phsic::fuzz::require;
  if (size == 0) return 0;
  constexpr int kLongestGram = 16;
  const int n = 1 + data[0] % kLongestGram;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (!phsic::is_utf8(text)) return 0;
  phsic::ProfileMaker maker(n);
  const std::vector<phsic::Gram>& profile = maker.make(text);
  require(profile.empty() != phsic::has_grams(text, n), "has_grams() knows of the grams");
  double squares = 0;
  for (std::size_t i = 0; i < profile.size(); ++i) {
    require(i == 0 || profile[i - 1].code < profile[i].code, "grams ascend");
    squares += profile[i].weight * profile[i].weight;
  }
  require(profile.empty() || std::abs(squares - 1) < 1e-9, "profiles have unit length");
  return 0;
}
