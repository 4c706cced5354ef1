// Saved learners in single precision.
#include "tests/fuzz/check_state.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  phsic::fuzz::check_payload<phsic::Learner<float>>(data, size);
  return 0;
}
