// Lists of numbers: refused with a reason, or as many finite numbers as were asked for.
#include "plugins/number_list.h"

#include <cmath>
#include <vector>

#include "plugins/plugin.h"
#include "tests/fuzz/check_state.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using phsic::fuzz::require;
  if (size == 0) return 0;
  const std::size_t count = 1 + data[0] % 8;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const float nonsense = std::nanf("");
  std::vector<float> values(count, nonsense);
  try {
    phsic::plugins::read_number_list(text, count, values.data());
  } catch (const phsic::plugins::BadText& problem) {
    require(std::string_view(problem.what()).find("expected") != std::string_view::npos,
            "the reason is given");
    return 0;
  }
  for (const float value : values) require(std::isfinite(value), "numbers are finite");
  return 0;
}
