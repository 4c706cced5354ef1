// Scratch memory for functions that many threads may call at once: each call borrows one, and as
// many are made as were ever out at the same time. One that a long text has made large is not kept.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace phsic::plugins {

// S has held_bytes() const.
template <class S>
class ScratchPool {
 public:
  // Given back when it goes out of scope.
  class Loan {
   public:
    explicit Loan(ScratchPool& pool) : pool_(pool), scratch_(pool.take()) {}
    ~Loan() { pool_.give_back(std::move(scratch_)); }
    Loan(const Loan&) = delete;
    Loan& operator=(const Loan&) = delete;
    Loan(Loan&&) = delete;
    Loan& operator=(Loan&&) = delete;

    [[nodiscard]] S& operator*() { return *scratch_; }

   private:
    ScratchPool& pool_;
    std::unique_ptr<S> scratch_;
  };

 private:
  std::unique_ptr<S> take() {
    const std::lock_guard lock(mutex_);
    if (idle_.empty()) {
      idle_.reserve(++made_);
      return std::make_unique<S>();
    }
    auto scratch = std::move(idle_.back());
    idle_.pop_back();
    return scratch;
  }

  void give_back(std::unique_ptr<S> scratch) {
    constexpr std::size_t kMostKept = 1U << 20U;
    if (scratch->held_bytes() > kMostKept) scratch.reset();
    const std::lock_guard lock(mutex_);
    if (scratch == nullptr) {
      --made_;
      return;
    }
    idle_.push_back(std::move(scratch));
  }

  std::mutex mutex_;  // guards idle_ and made_
  std::vector<std::unique_ptr<S>> idle_;
  std::size_t made_ = 0;
};

}  // namespace phsic::plugins
