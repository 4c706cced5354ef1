// Saved drift alarms.
#include "tests/fuzz/check_state.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  phsic::fuzz::check_payload<phsic::DriftAlarm>(data, size);
  return 0;
}
