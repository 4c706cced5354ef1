// The envelope of saved state: raw bytes, offered to every parser.
#include "tests/fuzz/check_state.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace phsic;
  const std::span<const char> bytes(reinterpret_cast<const char*>(data), size);
  fuzz::check_bytes<Learner<float>>(bytes);
  fuzz::check_bytes<Learner<double>>(bytes);
  fuzz::check_bytes<Model<float>>(bytes);
  fuzz::check_bytes<Model<double>>(bytes);
  fuzz::check_bytes<PivotChange<float>>(bytes);
  fuzz::check_bytes<PivotChange<double>>(bytes);
  fuzz::check_bytes<CountPmi>(bytes);
  fuzz::check_bytes<DriftAlarm>(bytes);
  return 0;
}
