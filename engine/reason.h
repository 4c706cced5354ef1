// What an exception says, in words.
#pragma once

#include <exception>
#include <new>

namespace phsic {

// Valid as long as the exception. Allocates nothing, since the reason may be a lack of memory.
[[nodiscard]] inline const char* reason(const std::exception& problem) {
  const bool is_memory = dynamic_cast<const std::bad_alloc*>(&problem) != nullptr;
  return is_memory ? "there is not enough memory" : problem.what();
}

}  // namespace phsic
