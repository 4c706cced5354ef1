// How the state writer fares. Its thread writes this, any thread reads it.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>

namespace phsic {

struct WriterStatus {
  std::atomic<bool> is_keeping{true};
  std::atomic<std::uint64_t> commits{0};
  std::atomic<std::uint64_t> bytes{0};  // of entries
  std::atomic<std::uint64_t> failures{0};
  // In SQLite's log, of commits that cannot be written into the file.
  std::atomic<std::uint64_t> log_bytes{0};

  // The last failure; empty: everything is kept.
  [[nodiscard]] std::string problem() const {
    const std::lock_guard lock(mutex_);
    return problem_;
  }
  void set_problem(std::string problem) {
    const std::lock_guard lock(mutex_);
    problem_ = std::move(problem);
  }

 private:
  mutable std::mutex mutex_;  // guards problem_
  std::string problem_;
};

}  // namespace phsic
