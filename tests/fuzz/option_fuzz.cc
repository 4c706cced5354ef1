// What users write on the command line: refused by an Error, or understood the same way twice.
#include "cli/table/timestamp.h"
#include "engine/stream_spec.h"
#include "tests/fuzz/check_state.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using phsic::fuzz::require;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto time = phsic::parse_timestamp(text);
  require(time == phsic::parse_timestamp(text), "a time is always the same");
  for (const auto& option : phsic::stream_options()) {
    phsic::StreamSpec once;
    phsic::StreamSpec twice;
    try {
      once.set(option.name, text);
    } catch (const phsic::Error&) {
      continue;
    }
    twice.set(option.name, text);
    twice.set(option.name, text);
    require(once.x_encoder == twice.x_encoder && once.x_kernel == twice.x_kernel &&
                once.forgetting == twice.forgetting &&
                once.estimator.ridge == twice.estimator.ridge,
            "setting an option twice is setting it once");
    require(once.forgetting.span >= 0, "a span is not negative");
  }
  return 0;
}
