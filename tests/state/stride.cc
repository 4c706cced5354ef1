#include "tests/state/stride.h"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>

namespace phsic::test {
namespace {

constexpr std::size_t kStep = PHSIC_DAMAGE_STEP;

std::size_t number_in(const char* variable, std::size_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

Stride make_stride() {
  Stride stride;
  stride.step = number_in("PHSIC_DAMAGE_STEP", kStep);
  if (stride.step == 0) stride.step = 1;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  // Tests of one run are processes that begin at nearly the same time.
  const auto any = static_cast<std::size_t>(now / std::chrono::milliseconds(1)) +
                   7919 * static_cast<std::size_t>(getpid());
  stride.first = number_in("PHSIC_DAMAGE_FIRST", any) % stride.step;
  std::printf("PHSIC_DAMAGE_STEP=%zu PHSIC_DAMAGE_FIRST=%zu\n", stride.step, stride.first);
  return stride;
}

}  // namespace

const Stride& damage_stride() {
  static const Stride kStride = make_stride();
  return kStride;
}

}  // namespace phsic::test
