// How much a test does when it is checked for memory and not for what it measures.
#pragma once

namespace phsic::test {

// One of `share` parts under the sanitizers: what they look for is found in the first runs. For
// tests whose bounds follow the number.
constexpr int reduced(int wanted, [[maybe_unused]] int share = 8) {
#ifdef PHSIC_SANITIZED
  return wanted / share;
#else
  return wanted;
#endif
}

}  // namespace phsic::test
