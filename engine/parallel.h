// Work shared out to threads that live for the length of one call.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace phsic {

// Calls work(i) once for each i below `count`, from up to `threads` threads at once, or fewer if
// the system gives no more. What one of them throws is thrown again when all have ended.
template <class Work>
void for_each_in_parallel(std::size_t count, std::size_t threads, const Work& work) {
  const auto helpers = std::min(threads, count);
  if (helpers <= 1) {
    for (std::size_t i = 0; i < count; ++i) work(i);
    return;
  }
  std::atomic<std::size_t> next{0};
  std::mutex mutex;  // guards `failure`
  std::exception_ptr failure;
  const auto run = [&] {
    try {
      for (auto i = next++; i < count; i = next++) work(i);
    } catch (...) {
      next = count;
      const std::lock_guard lock(mutex);
      if (!failure) failure = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> pool;
    try {
      for (std::size_t k = 1; k < helpers; ++k) pool.emplace_back(run);
    } catch (const std::exception&) {
      // There are no more threads to be had: those that are there do it all.
    }
    run();
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace phsic
