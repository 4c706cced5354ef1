// How much a test does under the sanitizers, which check memory and not what the test measures.
#pragma once

namespace phsic::test {

// A fraction of the runs under the sanitizers, which find what they look for in the first runs. For
// tests whose bounds depend on the number of runs.
constexpr int reduced(int wanted, [[maybe_unused]] int share = 8) {
#ifdef PHSIC_SANITIZED
  return wanted / share;
#else
  return wanted;
#endif
}

}  // namespace phsic::test
