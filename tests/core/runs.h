// How often a test draws when it measures a distribution.
#pragma once

namespace phsic::test {

// An eighth under the sanitizers: what they look for is found in the first runs. For tests whose
// bounds follow the number of runs.
constexpr int runs(int wanted) {
#ifdef PHSIC_SANITIZED
  return wanted / 8;
#else
  return wanted;
#endif
}

}  // namespace phsic::test
