// The kernels' notation: refused by an Error, or read back from what to_string() writes.
#include "core/kernel.h"

#include "tests/fuzz/check_state.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using phsic::Kernel;
  const std::string_view notation(reinterpret_cast<const char*>(data), size);
  std::optional<Kernel> kernel;
  try {
    kernel = Kernel::parse(notation);
  } catch (const phsic::Error&) {
    return 0;
  }
  phsic::fuzz::require(Kernel::parse(kernel->to_string()) == *kernel, "parse(k.to_string()) is k");
  return 0;
}
